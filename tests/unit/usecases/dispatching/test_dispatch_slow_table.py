"""What a dispatcher does when each of its writes takes long."""

from collections.abc import Mapping

import pytest

from switchyard.domain.ids import TaskRef
from switchyard.domain.tasks.task import Task
from tests.fakes.harnesses.job_harness import DISPATCH_SECONDS, Harness


@pytest.fixture
def harness() -> Harness:
    return Harness()


def test_a_slow_table_is_left_in_time_with_the_rest_for_later(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    harness.start({"a": [], **{f"m{n:04}": ["a"] for n in range(900)}})
    harness.settle("a", times=0)
    write = harness.memory.graph.remove_edges

    def slow(ref: TaskRef, tokens: Mapping[str, bool]) -> Task:
        harness.clock.advance(0.08)
        return write(ref, tokens)

    monkeypatch.setattr(harness.memory.graph, "remove_edges", slow)
    began = harness.clock.monotonic()
    harness.wake("a")
    assert harness.clock.monotonic() - began <= DISPATCH_SECONDS
    assert harness.memory.dispatches.refs
    harness.work_off()
    assert harness.emitted()["Task Pending"] == 901
