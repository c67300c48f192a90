"""Names the resources of one harness: all alike, so that anybody can recognise and remove
them."""

import re
from dataclasses import dataclass
from typing import Final

PREFIX: Final = "scenarios-"
_OF_A_HARNESS: Final = re.compile(rf"({PREFIX}[0-9a-f]{{6}}-)dead-letters")


@dataclass(frozen=True, slots=True)
class Names:
    prefix: str
    """The prefix of all names: `scenarios-`, six hexadecimal digits, `-`."""

    @classmethod
    def numbered(cls, number: int) -> "Names":
        """Return names with the last six hexadecimal digits of the number."""
        return cls(f"{PREFIX}{number % 0x1000000:06x}-")

    @classmethod
    def of_the_harness_with(cls, queue: str) -> "Names | None":
        """Find a harness by its dead-letter queue, which is made first."""
        found = _OF_A_HARNESS.fullmatch(queue)
        return cls(found[1]) if found else None

    @property
    def tasks(self) -> str:
        return f"{self.prefix}tasks"

    @property
    def dead_letters(self) -> str:
        return f"{self.prefix}dead-letters"

    @property
    def batch(self) -> str:
        """A queue of its own behind a Lambda function, and the function."""
        return f"{self.prefix}batch"

    @property
    def batch_dead_letters(self) -> str:
        return f"{self.prefix}batch-dead-letters"

    @property
    def state(self) -> str:
        return f"{self.prefix}state"

    @property
    def definitions(self) -> str:
        return f"{self.prefix}task-definitions"

    @property
    def message_status(self) -> str:
        return f"{self.prefix}message-status"

    @property
    def message_completed(self) -> str:
        return f"{self.prefix}message-completed"

    @property
    def entities(self) -> str:
        """Return the name of the table of entities, which versioned messages are about."""
        return f"{self.prefix}entities"

    @property
    def bus(self) -> str:
        return f"{self.prefix}bus"

    @property
    def bucket(self) -> str:
        return f"{self.prefix}files"

    @property
    def tables(self) -> dict[str, tuple[str, ...]]:
        """Return the tables with the attributes of their keys, all of them texts."""
        return {
            self.state: ("PK", "SK"),
            self.definitions: ("PK", "SK"),
            self.message_status: ("message_id",),
            self.message_completed: ("message_id",),
            self.entities: ("entity_id",),
        }
