"""Alerts that were postponed are checked again when they are due."""

import pytest

from switchyard.contracts.alerting import subject_to_check
from switchyard.domain.alerts.alerts import Alert
from switchyard.domain.errors import UnknownQueue
from switchyard.testing import ManualClock
from switchyard.testing.alerts import MemoryAlertStore
from switchyard.testing.transport import MemoryQueueSender, MemoryTaskQueue
from switchyard.usecases.alerts.report_incidents import DueAlerts

WAIT_MS = 30_000


class Postponed:
    def __init__(self, *keys: str) -> None:
        self.clock = ManualClock()
        self.store = MemoryAlertStore()
        self.queue = MemoryTaskQueue(self.clock)
        self.queue_sender = MemoryQueueSender({"alerts": self.queue})
        now_ms = self.clock.now_ms()
        for key in keys:
            taken = self.store.lease(Alert(key=key), now_ms=now_ms)
            assert taken is not None
            self.store.save(taken.postponed(now_ms=now_ms, wait_ms=WAIT_MS, unsure=False))

    def send_due(self, queue: str = "alerts") -> list[str]:
        alerts = DueAlerts(
            store=self.store, queue_sender=self.queue_sender, queue=queue, clock=self.clock
        )
        return list(alerts.send_due())


def test_the_subject_is_sent_when_the_wait_is_over_and_not_before() -> None:
    postponed = Postponed("alarm/x")
    assert postponed.send_due() == []
    postponed.clock.advance(WAIT_MS / 1000)
    assert postponed.send_due() == ["alarm/x"]
    (message,) = postponed.queue.receive(at_most=10, wait_seconds=0, visibility_seconds=60)
    assert str(subject_to_check(message.body)) == "alarm/x"


def test_a_subject_of_several_channels_is_sent_once_and_health_is_left_to_its_check() -> None:
    postponed = Postponed("job/acme/1", "job/acme/1@#theirs", "job/acme/2@webhook", "health")
    postponed.clock.advance(WAIT_MS / 1000)
    assert postponed.send_due() == ["job/acme/1", "job/acme/2"]


def test_a_queue_that_is_missing_is_said() -> None:
    postponed = Postponed("alarm/x")
    postponed.clock.advance(WAIT_MS / 1000)
    with pytest.raises(UnknownQueue):
        postponed.send_due(queue="elsewhere")
