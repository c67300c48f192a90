"""Looks at a subject once for all that woke it before: many letters, many tasks of a job."""

from dataclasses import dataclass, field
from typing import Final, Protocol

from switchyard.ports import Clock
from switchyard.usecases.alerts.tell_alone import Told

CLOCKS_DIFFER_MS: Final = 5_000
"""The queue's and ours."""
MAX_REMEMBERED: Final = 1_000
MORE_LOOKS: Final = 2


class Watches(Protocol):
    def look_at(self, subject: str) -> Told: ...


@dataclass(kw_only=True)
class Lookout:
    watch: Watches
    clock: Clock
    _looked: dict[str, tuple[str, int]] = field(default_factory=dict, init=False)

    def woken(self, subject: str, *, sent_at_ms: int, batch: str) -> Told | None:
        """`None` if it was looked at since: what happened before was seen then.

        All of one batch had arrived before the first look.
        """
        began_ms = self.clock.now_ms()
        last_batch, last_ms = self._looked.get(subject, ("", 0))
        if batch == last_batch or sent_at_ms < last_ms - CLOCKS_DIFFER_MS:
            return None
        told = self._look(subject)
        if len(self._looked) >= MAX_REMEMBERED:
            self._looked.clear()
        self._looked[subject] = (batch, began_ms)
        return told

    def _look(self, subject: str) -> Told:
        """Once more if another came meanwhile and left it to us; in the end the sweeper has it."""
        told = self.watch.look_at(subject)
        for _ in range(MORE_LOOKS):
            if not told.asked:
                break
            told = self.watch.look_at(subject)
        return told
