"""A redrive of many tasks: relays, and steps that go on where the last one stopped."""

from collections.abc import Iterator

import pytest

from switchyard.domain.ids import END
from switchyard.domain.states import JobState, Rule
from switchyard.usecases.jobs.redrive import AT_A_TIME
from tests.fakes.harnesses.changed_harness import ChangedHarness
from tests.fakes.harnesses.job_harness import FAILED
from tests.fakes.narrow_relays import narrow_relays


@pytest.fixture
def harness() -> ChangedHarness:
    return ChangedHarness()


@pytest.fixture
def narrow() -> Iterator[None]:
    with narrow_relays(3):
        yield


@pytest.mark.usefixtures("narrow")
def test_relays_stand_for_more_than_the_end_may_name(harness: ChangedHarness) -> None:
    edges: dict[str, list[str]] = {f"a{n}": [] for n in range(8)}
    rules = {f"b{n}": Rule.ALL_SETTLED for n in range(8)}
    harness.start(edges | {f"b{n}": [f"a{n}"] for n in range(8)}, **rules)
    for name in edges:
        harness.settle(name, FAILED)
    for name in rules:
        harness.settle(name)
    harness.deliver()
    for run in (2, 3):
        harness.redrive()
        harness.deliver()
        assert len(harness.task(END).waiting_on) <= 3
        for name in edges:
            assert harness.job_state() is JobState.OPEN
            harness.settle(name, FAILED)
        harness.deliver()
        assert harness.job_state() is JobState.FAILED
        assert {harness.runs()[name] for name in edges} == {run}


def written_without_time(harness: ChangedHarness) -> list[int]:
    """Return how much was written at each end of the time, until all of it was."""
    written: list[int] = []
    while not harness.redriver.go_on(harness.the_job(), until=harness.clock.monotonic()):
        assert harness.the_job().written > max(written, default=0), "it does not go on"
        written.append(harness.the_job().written)
    return written


def test_when_time_is_over_it_goes_on_where_it_stopped(harness: ChangedHarness) -> None:
    many = AT_A_TIME + 10
    edges: dict[str, list[str]] = {f"a{n}": [] for n in range(many)}
    harness.start(edges | {f"b{n}": [f"a{n}"] for n in range(many)})
    for name in edges:
        harness.settle(name, FAILED)
    harness.deliver()
    harness.redrive()
    assert len(written_without_time(harness)) == 2  # twice time was over with some of them left
    emitted = [e.event_id for e in harness.memory.bus.events if e.event_type == "Task Redriven"]
    assert len(emitted) == len(set(emitted)) == 2 * many
    assert set(harness.runs().values()) == {2}


def test_when_time_is_over_before_all_edges_are_written_the_others_are_written_later(
    harness: ChangedHarness,
) -> None:
    many = AT_A_TIME + 10
    edges: dict[str, list[str]] = {f"a{n}": [] for n in range(many)}
    after = {f"b{n}": [f"a{n}"] for n in range(many)}
    harness.start(edges | after, **dict.fromkeys(after, Rule.ALL_SETTLED))
    for name in edges:
        harness.settle(name, FAILED)
    for name in after:
        harness.settle(name)
    harness.deliver()
    harness.redrive()
    written = written_without_time(harness)
    relays = len(harness.task(END).waiting_on)
    assert written == [relays + AT_A_TIME, relays + many + 1 + AT_A_TIME]
    assert {harness.runs()[name] for name in edges} == {2}
