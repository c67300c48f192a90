"""What was postponed is looked at again when its time has come."""

import pytest

from switchyard.adapters.memory import ManualClock
from switchyard.adapters.memory.alerts import MemoryAlertBook
from switchyard.adapters.memory.transport import MemoryMail, MemoryTaskQueue
from switchyard.contracts.alerting import woken_subject
from switchyard.domain.alerts.alerts import Alert
from switchyard.domain.errors import UnknownQueue
from switchyard.usecases.alerts.retell_alerts import Reteller

WAIT_MS = 30_000


class Postponed:
    def __init__(self, *keys: str) -> None:
        self.clock = ManualClock()
        self.book = MemoryAlertBook()
        self.queue = MemoryTaskQueue(self.clock)
        self.mail = MemoryMail({"alerts": self.queue})
        now_ms = self.clock.now_ms()
        for key in keys:
            taken = self.book.take(Alert(key=key), now_ms=now_ms)
            assert taken is not None
            self.book.save(taken.postponed(now_ms=now_ms, wait_ms=WAIT_MS, unsure=False))

    def retell(self, queue: str = "alerts") -> list[str]:
        reteller = Reteller(book=self.book, mail=self.mail, queue=queue, clock=self.clock)
        return list(reteller.retell())


def test_the_watcher_is_woken_when_the_wait_is_over_and_not_before() -> None:
    postponed = Postponed("alarm/x")
    assert postponed.retell() == []
    postponed.clock.advance(WAIT_MS / 1000)
    assert postponed.retell() == ["alarm/x"]
    (message,) = postponed.queue.receive(at_most=10, wait_seconds=0, visibility_seconds=60)
    assert woken_subject(message.body) == "alarm/x"


def test_a_subject_of_several_channels_is_looked_at_once_and_health_is_left_to_its_check() -> None:
    postponed = Postponed("job/acme/1", "job/acme/1@#theirs", "job/acme/2@webhook", "health")
    postponed.clock.advance(WAIT_MS / 1000)
    assert postponed.retell() == ["job/acme/1", "job/acme/2"]


def test_a_queue_that_is_missing_is_said() -> None:
    postponed = Postponed("alarm/x")
    postponed.clock.advance(WAIT_MS / 1000)
    with pytest.raises(UnknownQueue):
        postponed.retell(queue="elsewhere")
