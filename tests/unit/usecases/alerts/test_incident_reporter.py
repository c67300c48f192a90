"""Checks a subject as often as there can be something new, however many messages name it."""

from dataclasses import dataclass, field

import pytest

from switchyard.domain.alerts.alerts import PublishResult, PublishStatus
from switchyard.domain.alerts.subjects import (
    QUARANTINE,
    AlarmSubject,
    DeadLettersSubject,
    JobSubject,
    Subject,
)
from switchyard.domain.errors import Unavailable
from switchyard.domain.ids import JobRef
from switchyard.testing import ManualClock
from switchyard.usecases.alerts.report_incidents import (
    CLOCKS_DIFFER_MS,
    MAX_REMEMBERED,
    IncidentReporter,
)

DEAD_LETTERS = DeadLettersSubject(QUARANTINE)
ALARM = AlarmSubject("x")


@dataclass
class Checks:
    at: list[Subject] = field(default_factory=list)
    down: bool = False
    asked: int = 0
    """How many checks end with another update requested."""

    def check(self, subject: Subject) -> PublishResult:
        if self.down:
            raise Unavailable("no answer")
        self.at.append(subject)
        return PublishResult(PublishStatus.UPDATED, update_requested=len(self.at) <= self.asked)


class Harness:
    def __init__(self) -> None:
        self.clock, self.checks = ManualClock(), Checks()
        self.reporter = IncidentReporter(checker=self.checks, clock=self.clock)

    def reported(self, subject: Subject = DEAD_LETTERS, *, ago: float = 0, batch: str) -> bool:
        sent_at_ms = self.clock.now_ms() - int(ago * 1000)
        return self.reporter.report(subject, sent_at_ms=sent_at_ms, batch=batch) is not None


@pytest.fixture
def harness() -> Harness:
    return Harness()


def test_a_hundred_thousand_old_messages_are_checked_once(harness: Harness) -> None:
    looked = [harness.reported(ago=3_600, batch=f"b{number}") for number in range(100)]
    assert looked.count(True) == 1


def test_a_message_that_was_sent_after_the_check_began_is_checked(harness: Harness) -> None:
    harness.reported(batch="b1")
    harness.clock.advance(1)
    assert harness.reported(batch="b2")


def test_clocks_that_differ_hide_nothing(harness: Harness) -> None:
    harness.reported(batch="b1")
    assert harness.reported(ago=CLOCKS_DIFFER_MS / 1000, batch="b2")
    assert not harness.reported(ago=CLOCKS_DIFFER_MS / 1000 + 0.001, batch="b3")


def test_for_one_batch_each_subject_is_checked_once(harness: Harness) -> None:
    subjects: list[Subject] = [DEAD_LETTERS, ALARM, DEAD_LETTERS, ALARM]
    assert [harness.reported(s, batch="b1") for s in subjects] == [True, True, False, False]
    assert harness.checks.at == [DEAD_LETTERS, ALARM]


@pytest.mark.parametrize(("asked", "checks"), [(0, 1), (1, 2), (99, 3)])
def test_an_update_that_is_requested_meanwhile_is_checked_at_once(
    harness: Harness, asked: int, checks: int
) -> None:
    harness.checks.asked = asked
    harness.reported(batch="b1")
    assert len(harness.checks.at) == checks


def test_a_check_that_failed_is_repeated(harness: Harness) -> None:
    harness.checks.down = True
    with pytest.raises(Unavailable):
        harness.reported(ago=60, batch="b1")
    harness.checks.down = False
    assert harness.reported(ago=60, batch="b1")


def test_it_remembers_no_more_than_it_can_hold(harness: Harness) -> None:
    for number in range(2 * MAX_REMEMBERED):
        harness.reported(JobSubject(JobRef("acme", str(number))), batch="b1")
    assert len(harness.reporter._checked) <= MAX_REMEMBERED
