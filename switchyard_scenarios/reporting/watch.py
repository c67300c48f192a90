"""Looks at a harness again and again, and alone writes down what changes."""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from switchyard.adapters.dynamodb.values import Item
from switchyard_scenarios.harness.harness import Harness
from switchyard_scenarios.harness.place import LOCAL
from switchyard_scenarios.harness.workers import LOOK_SECONDS, Workers
from switchyard_scenarios.reporting.evidence import Evidence, Failed
from switchyard_scenarios.switched.effects import Status

PATIENCE_SECONDS: Final = 40.0
LOOKS_AT_AN_EMPTY_QUEUE: Final = 3  # in a row
LOOKS_ON_AWS: Final = 60
"""The looks in a row at an empty queue on AWS, where SQS counts what was true a while ago."""
LONGER_ON_AWS: Final = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    waiting: int
    hidden: int
    """The messages that are received and not deleted."""
    delayed: int
    dead: int
    """The messages among the dead letters, received or not."""
    workers: int
    statuses: Mapping[str, Item]
    """Rows of `message_status`, by message."""
    completed: Mapping[str, Item]
    """Rows of `message_completed`, by message."""

    @property
    def backlog(self) -> int:
        return self.waiting + self.hidden + self.delayed

    @property
    def drained(self) -> bool:
        return self.backlog == 0

    @property
    def by_status(self) -> Counter[str]:
        return Counter(row["status"] for row in self.statuses.values())


class Watch:
    def __init__(self, harness: Harness, workers: Workers, evidence: Evidence) -> None:
        self._harness = harness
        self._workers = workers
        self._evidence = evidence
        self._on_aws = harness.place.stage != LOCAL

    def look(self) -> Seen:
        """Look once, now."""
        if self._harness.place.interrupted():
            raise KeyboardInterrupt
        tasks = self._harness.depth(self._harness.queue_url)
        dead = self._harness.depth(self._harness.dead_letters_url)
        seen = Seen(
            **tasks,
            dead=sum(dead.values()),
            workers=self._workers.running,
            statuses=self._harness.statuses(),
            completed=self._harness.completed(),
        )
        self._write_down(seen)
        return seen

    def until(
        self,
        sentence: str,
        holds: Callable[[Seen], bool],
        *,
        seconds: float = PATIENCE_SECONDS,
    ) -> Seen:
        """Wait until it holds and return what was seen. Raise `Failed` after so many seconds."""
        clock = self._evidence.clock
        seconds *= LONGER_ON_AWS if self._on_aws else 1
        deadline = clock.monotonic() + seconds
        while not holds(seen := self.look()):
            if clock.monotonic() > deadline:
                raise Failed(f"not within {seconds:g} s: {sentence}; {_reported(seen)}")
            clock.sleep(LOOK_SECONDS)
        self._evidence.note(sentence)
        return seen

    def until_drained(
        self,
        *,
        seconds: float = PATIENCE_SECONDS,
        each: Callable[[Seen], object] = lambda _: None,
    ) -> Seen:
        """Wait until all is handled or given up: nothing waits, and nothing is in flight.

        `each` is called with every observation.
        """
        enough = LOOKS_ON_AWS if self._on_aws else LOOKS_AT_AN_EMPTY_QUEUE
        empty_looks = 0

        def stays_empty(seen: Seen) -> bool:
            nonlocal empty_looks
            each(seen)
            empty_looks = empty_looks + 1 if seen.drained else 0
            return empty_looks == enough

        return self.until("the queue is empty", stays_empty, seconds=seconds)

    def until_all_settled(self, *, seconds: float = PATIENCE_SECONDS) -> Seen:
        """Wait until no message that was begun is still being worked on."""
        return self.until(
            "all that was begun is settled",
            lambda seen: Status.STARTED not in seen.by_status,
            seconds=seconds,
        )

    def _write_down(self, seen: Seen) -> None:
        figures = {
            "waiting": seen.waiting,
            "in flight": seen.hidden,
            "dead letters": seen.dead,
            "completed": len(seen.completed),
            "workers": seen.workers,
        }
        for label, value in figures.items():
            self._evidence.measure(label, value)


def _reported(seen: Seen) -> str:
    return (
        f"{seen.waiting} waiting, {seen.hidden} in flight, {seen.dead} dead letters, "
        f"{len(seen.completed)} completed, {seen.workers} workers"
    )
