"""A deployed stage, as its account shows it."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from switchyard.domain.health.diagnosis import Switch, Workers


class Inspection(Protocol):
    """Looks and changes nothing. Each look may raise `Unavailable`."""

    def caller(self) -> str:
        """Who looks."""

    def stacks(self) -> Mapping[str, str]:
        """The status of each that is there, by its name within the stage."""

    def has_secret(self, name: str) -> bool: ...

    def workers(self) -> Workers | None:
        """`None` if there is no service."""

    def switches(self) -> Sequence[Switch]: ...

    def dead_letters(self) -> Mapping[str, int]:
        """How many messages wait in each dead-letter queue, by its name."""
