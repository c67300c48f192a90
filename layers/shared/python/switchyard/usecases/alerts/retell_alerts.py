"""Has what was postponed looked at again."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from switchyard.contracts.alerting import LookAgain
from switchyard.domain.alerts.alerts import subject_in
from switchyard.domain.alerts.health_incident import HEALTH_SUBJECT
from switchyard.ports import Clock, Mail
from switchyard.ports.alerting import AlertBook

AT_ONCE: Final = 50
"""The next minute finds the rest."""


@dataclass(frozen=True, kw_only=True)
class Reteller:
    book: AlertBook
    mail: Mail
    queue: str
    """Where watchers are woken."""
    clock: Clock

    def retell(self) -> Sequence[str]:
        """The subjects whose watchers were woken; health is told anew by every check."""
        due = self.book.due(now_ms=self.clock.now_ms(), limit=AT_ONCE)
        subjects = sorted({subject_in(key) for key in due} - {HEALTH_SUBJECT})
        for subject in subjects:
            again = LookAgain(subject=subject)
            self.mail.send(self.queue, again.model_dump_json(by_alias=True), {})
        return subjects
