"""What the switches do to a worker's messages, and when they kill it."""

from dataclasses import replace
from pathlib import Path

import pytest

from switchyard.domain.errors import Unavailable
from switchyard.domain.tasks.task import Lease
from switchyard_scenarios.switched.crashes import Crashes
from switchyard_scenarios.switched.inbox import PRODUCED_AT
from switchyard_scenarios.switched.switches import CrashPoint
from tests.builders import a_task
from tests.scenarios.switched_worker import Bench


class Dice:
    """Fails as a test configured it."""

    def __init__(self, value: float) -> None:
        self._value = value

    def between(self, low: float, high: float) -> float:
        return low + (high - low) * self._value


def test_without_switches_a_message_is_received_extended_and_deleted(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.send("m")
    [message] = bench.receive()
    bench.inbox.extend(message, seconds=30)
    bench.inbox.delete(message)
    assert bench.queue.waiting == 0
    acts = [bench.written(act) for act in ("received", "extended", "deleted")]
    assert [[entry.message for entry in entries] for entries in acts] == [["m"]] * 3


def test_what_is_not_deleted_comes_again(tmp_path: Path) -> None:
    bench = Bench(tmp_path, no_delete_after_process=True)
    bench.send("m")
    bench.inbox.delete(*bench.receive())
    bench.clock.advance(10)
    assert len(bench.receive()) == 1
    assert [entry.message for entry in bench.written("not deleted")] == ["m"]


def test_every_second_extension_is_asked_for_and_is_as_long_as_told(tmp_path: Path) -> None:
    bench = Bench(tmp_path, extend_every_n=2, visibility_extension_seconds=20)
    bench.send("m")
    [message] = bench.receive()
    for _ in range(4):
        bench.inbox.extend(message, seconds=5)
    assert [entry.facts["seconds"] for entry in bench.written("extended")] == [20, 20]


def test_what_is_put_back_is_put_back_whatever_the_switches_say(tmp_path: Path) -> None:
    bench = Bench(tmp_path, extend_every_n=9, visibility_extension_seconds=20)
    bench.send("m")
    [message] = bench.receive()
    bench.inbox.extend(message, seconds=0)
    assert len(bench.receive()) == 1


def test_only_what_was_put_back_is_told_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bench = Bench(tmp_path)
    bench.send("m")
    [message] = bench.receive()

    def fails(*_: object, **__: object) -> None:
        raise Unavailable("no answer")

    monkeypatch.setattr(bench.queue, "extend", fails)
    with pytest.raises(Unavailable):
        bench.inbox.extend(message, seconds=0)
    assert bench.written("put back") == []


def test_a_limited_worker_takes_another_for_what_it_put_back(tmp_path: Path) -> None:
    bench = Bench(tmp_path, message_limit=1)
    bench.send("m")
    [message] = bench.receive()
    bench.inbox.extend(message, seconds=0)
    bench.inbox.delete(*bench.receive())
    assert bench.stops == 1


def test_a_short_visibility_brings_a_message_back_early(tmp_path: Path) -> None:
    bench = Bench(tmp_path, receive_visibility_seconds=1)
    bench.send("m")
    bench.receive()
    bench.clock.advance(1)
    assert len(bench.receive()) == 1


def test_a_limited_worker_takes_no_more_and_ends_once_all_are_done_with(tmp_path: Path) -> None:
    bench = Bench(tmp_path, message_limit=2)
    bench.send("a", "b", "c")
    [first] = bench.receive(at_most=1)
    [second] = bench.receive()
    assert bench.receive() == []
    bench.inbox.delete(first)
    assert bench.stops == 0
    bench.inbox.delete(second)
    assert bench.stops == 1


def test_a_worker_whose_run_was_killed_takes_nothing_more_and_ends(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.send("a")
    bench.parent = 1
    assert bench.receive() == []
    assert bench.stops == 1


def test_a_stale_message_is_discarded_and_told_as_failed(tmp_path: Path) -> None:
    bench = Bench(tmp_path, stale_after_seconds=60, stale_messages="discard")
    an_hour_ago = str(bench.clock.now_ms() - 3_600_000)
    bench.send("old", **{PRODUCED_AT: an_hour_ago})
    bench.send("new")
    assert [message.attributes["requestId"].string_value for message in bench.receive()] == ["new"]
    assert bench.effects.refused == {"old": "stale: 3600 s old, at most 60 s are allowed"}
    assert bench.queue.waiting == 1


def test_a_stale_message_is_handled_and_noted_where_that_is_configured(tmp_path: Path) -> None:
    bench = Bench(tmp_path, stale_after_seconds=60)
    bench.send("old")
    bench.clock.advance(61)
    assert len(bench.receive()) == 1
    assert [entry.facts["age_seconds"] for entry in bench.written("stale")] == [61]


def test_a_wake_up_that_follows_does_not_replace_what_the_message_said(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.send("m")
    [message] = bench.receive()
    bench.bodies.keep(replace(message, body='{"schema": 1}'))
    assert bench.bodies.of("m") == "{}"


@pytest.mark.parametrize(
    ("switches", "fence", "dice", "dies"),
    [
        ({}, 1, 0.0, False),
        ({"crash_rate": 1}, 3, 0.999, True),
        ({"crash_rate": 0.5}, 1, 0.4, True),
        ({"crash_rate": 0.5}, 1, 0.6, False),
        ({"crash_on_first": True}, 1, 0.9, True),
        ({"crash_on_first": True}, 2, 0.0, False),
        ({"crash_rate": 1, "crash_only": "loop-"}, 1, 0.0, False),
        ({"crash_rate": 1, "crash_only": "job-"}, 1, 0.0, True),
        ({"crash_rate": 1, "crash_at": CrashPoint.WORKING}, 1, 0.0, False),
    ],
)
def test_a_worker_dies_where_and_for_whom_it_is_told(
    tmp_path: Path, switches: dict[str, object], fence: int, dice: float, dies: bool
) -> None:
    bench = Bench(tmp_path, **switches)
    deaths: list[int] = []
    crashes = Crashes(
        switches=bench.switches,
        journal=bench.journal,
        randomness=Dice(dice),
        die=lambda: deaths.append(1),
    )
    crashes.reached(CrashPoint.BEFORE_EFFECT, Lease(a_task(fence=fence), "me"))
    assert bool(deaths) is dies
    assert len(bench.written("crashed")) == len(deaths)
