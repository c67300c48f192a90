"""Of several who could tell one thing, one does; the others leave word that they asked."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from switchyard.domain.alerts.alerts import Alert, Wait
from switchyard.ports import Clock
from switchyard.ports.alerting import AlertBook


class Telling(StrEnum):
    POSTED = "posted"
    UPDATED = "updated"
    RECOVERED = "recovered"
    UNCHANGED = "unchanged"
    POSTPONED = "postponed"
    GIVEN_UP = "given up"
    NOT_CONFIGURED = "not configured"
    NOT_ALLOWED = "not allowed"

    @property
    def troubled(self) -> bool:
        return self in {
            Telling.POSTPONED,
            Telling.GIVEN_UP,
            Telling.NOT_CONFIGURED,
            Telling.NOT_ALLOWED,
        }


@dataclass(frozen=True, slots=True)
class Told:
    telling: Telling
    reason: str = ""
    said_before: bool = False
    """Whether this process has had the same trouble before: one line in the log is enough."""
    asked: bool = False
    """Whether another came meanwhile, who may know what we did not."""


@dataclass(frozen=True, slots=True)
class Turns:
    """Whose turn it is to tell, by the book."""

    book: AlertBook
    clock: Clock

    def taken(
        self, known: Alert, act: Callable[[Alert], tuple[Alert, Told]]
    ) -> tuple[Alert | None, Told]:
        """What `act` made of it, kept; or nothing, if it is another's turn."""
        taken = self.book.take(known, now_ms=self.clock.now_ms())
        if taken is None:
            self.book.ask(known.key, now_ms=self.clock.now_ms())
            return None, Told(Telling.POSTPONED, "another is telling it")
        alert, told = act(taken)
        self.book.save(alert)
        return alert, told

    def waited(self, key: str, decision: Wait) -> Told:
        if decision.ask:
            self.book.ask(key, now_ms=self.clock.now_ms())
        return Told(Telling.POSTPONED, decision.reason)
