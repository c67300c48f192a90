"""AWS's time, as a machine with a wrong clock estimates it."""

import random
from collections.abc import Iterator
from typing import Any

import pytest
from botocore.exceptions import ClientError
from moto import mock_aws

from switchyard.adapters import aws, aws_time
from switchyard.adapters.aws_time import OLDER_FOR_SECONDS, AwsClock, AwsTime
from switchyard.domain.health.clock_offset import ClockOffset
from switchyard_worker.parent.receive.lease import MARGIN_SECONDS

EPOCH = 1_800_000_000.0
LATENCY = 0.02


class Machine:
    """The real time is `now`; the wall clock is ahead of it, the ticks have counted since boot."""

    def __init__(self, ahead: float = 0.0) -> None:
        self.now = EPOCH + 0.25
        self.ahead = ahead
        self.ticks = 5_000.0
        self.time = AwsTime(ticks=lambda: self.ticks, wall=lambda: self.now + self.ahead)

    def pass_time(self, seconds: float) -> None:
        self.now += seconds
        self.ticks += seconds

    def hear(self, *, stale: float = 0.0, latency: float = LATENCY, waits: float = 0.0) -> None:
        sent = self.ticks
        self.pass_time(waits + latency / 2)
        date = float(int(self.now - stale))
        self.pass_time(latency / 2)
        self.time.note(sent=sent, received=self.ticks, date=date)

    @property
    def error(self) -> float:
        return abs(self.time.now() - self.now)

    @property
    def offset(self) -> ClockOffset:
        offset = self.time.wall_offset()
        assert offset is not None
        return offset


def test_before_the_first_answer_the_wall_clock_is_all_there_is() -> None:
    machine = Machine(ahead=300.0)
    assert machine.time.now() == pytest.approx(machine.now + 300.0)
    assert machine.time.wall_offset() is None


def test_a_clock_that_agrees_with_aws_is_believed_to_the_millisecond() -> None:
    machine = Machine()
    for _ in range(50):
        machine.hear()
        machine.pass_time(0.37)
    assert machine.error < 0.001
    assert machine.offset.ahead_ms == 0


@pytest.mark.parametrize("ahead", [-300.0, -3.0, 3.0, 300.0])
def test_one_answer_corrects_a_wrong_clock_to_about_a_second(ahead: float) -> None:
    machine = Machine(ahead)
    machine.hear()
    assert machine.error <= machine.offset.error_ms / 1000 <= 1.1
    assert abs(machine.offset.ahead_ms - 1000 * ahead) <= machine.offset.error_ms


@pytest.mark.parametrize("seed", range(20))
def test_the_error_is_never_larger_than_it_says(seed: int) -> None:
    dice = random.Random(seed)
    machine = Machine(ahead=dice.uniform(-300, 300))
    for _ in range(200):
        machine.hear(
            stale=dice.random(), latency=dice.uniform(0.001, 0.5), waits=dice.choice((0, 0, 20))
        )
        assert machine.error <= machine.offset.error_ms / 1000 + 0.001
        machine.pass_time(dice.uniform(0, 30))


def test_two_machines_differ_by_less_than_a_leases_margin_after_one_answer_each() -> None:
    slow, fast = Machine(-300.0), Machine(300.0)
    slow.hear(stale=1.0)
    fast.hear()
    errors = slow.offset.error_ms + fast.offset.error_ms
    assert errors / 1000 <= MARGIN_SECONDS


@pytest.mark.parametrize("step", [-300.0, -1.0, 1.0, 300.0])
def test_a_wall_clock_that_is_set_later_changes_nothing(step: float) -> None:
    machine = Machine()
    machine.hear()
    machine.ahead = step
    machine.hear()
    assert machine.error < 0.001
    assert machine.offset.ahead_ms == round(1000 * step)


def test_ticks_that_drift_are_followed() -> None:
    machine = Machine()
    for _ in range(24 * 60):
        machine.hear()
        machine.pass_time(60.0)
        machine.ticks += 60.0 * 100e-6  # 8.6 s a day
    assert machine.error < 2.0


def test_a_long_poll_says_little_and_spoils_nothing() -> None:
    machine = Machine(ahead=300.0)
    machine.hear(waits=20.0)
    assert machine.error <= machine.offset.error_ms / 1000 <= 12.0
    machine.hear()
    machine.hear(waits=20.0)
    assert machine.offset.error_ms <= 1_200


def test_a_single_answer_that_contradicts_the_others_is_ignored() -> None:
    machine = Machine()
    machine.hear()
    machine.hear(stale=-400.0)
    machine.hear()
    machine.hear(stale=-400.0)
    assert machine.error < 0.001


def test_stale_headers_are_ignored_however_many_come_together() -> None:
    machine = Machine()
    machine.hear()
    for _ in range(20):
        machine.hear(stale=8.0)
    assert machine.error < 0.001


def test_a_machine_that_slept_knows_the_time_after_two_answers() -> None:
    machine = Machine()
    machine.hear()
    machine.now += 3_600.0  # its ticks stood still
    machine.hear()
    machine.hear()
    assert machine.error <= machine.offset.error_ms / 1000 <= 1.2


def test_answers_that_are_older_for_long_are_believed() -> None:
    """This happens after one answer of a server whose clock was ahead."""
    machine = Machine()
    machine.hear(stale=-400.0)
    for _ in range(3):
        machine.hear()
        machine.pass_time(OLDER_FOR_SECONDS)
    assert machine.error <= machine.offset.error_ms / 1000 <= 1.2


@pytest.fixture
def observed(monkeypatch: pytest.MonkeyPatch) -> Iterator[AwsTime]:
    """The estimate of a machine whose wall clock is five minutes slow."""
    time = AwsTime(ticks=aws_time._wall, wall=lambda: aws_time._wall() - 300.0)
    monkeypatch.setattr(aws_time, "_OBSERVERS", [time])
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-central-1")
    with mock_aws():
        yield time


def test_every_answer_of_a_client_brings_the_time(observed: AwsTime) -> None:
    aws.client("dynamodb").list_tables()
    offset = observed.wall_offset()
    assert offset is not None
    assert abs(offset.ahead_ms + 300_000) <= offset.error_ms
    assert AwsClock(observed).now_ms() == pytest.approx(aws_time._wall() * 1000, abs=1_500)


def test_a_refusal_brings_the_time_as_well(observed: AwsTime) -> None:
    with pytest.raises(ClientError):
        aws.client("dynamodb").describe_table(TableName="unknown")
    assert observed.wall_offset() is not None


@pytest.mark.parametrize("headers", [{}, {"date": "yesterday"}])
def test_an_answer_without_a_date_is_ignored(headers: Any, observed: AwsTime) -> None:
    aws_time._note_answer({"headers": headers}, {aws_time._SENT_AT: [0.0]})
    aws_time._note_answer(None, {aws_time._SENT_AT: [0.0]})
    assert observed.wall_offset() is None
