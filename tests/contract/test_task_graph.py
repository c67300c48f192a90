"""What every keeper of edges promises."""

from dataclasses import replace

import pytest

from switchyard.domain.errors import UnknownTask
from switchyard.domain.ids import END, START
from switchyard.domain.readiness import Verdict
from switchyard.domain.states import TaskState
from tests.builders import JOB, NOW_MS, a_plan, a_task
from tests.contract.conftest import Backend

REPORT = JOB.task("compile-result")
READY = Verdict(TaskState.READY, "all_completed holds")


@pytest.fixture
def written(backend: Backend) -> Backend:
    plan = a_plan()
    backend.intake.write(plan)
    backend.intake.open(plan, now_ms=NOW_MS)
    return backend


def test_edges_lead_from_the_start_to_the_end(written: Backend) -> None:
    assert set(written.graph.dependents(JOB.task(START))) == {"scrape-store", "analyze-competitors"}
    assert set(written.graph.dependents(JOB.task("scrape-store"))) == {"color-tags", "font-pairing"}
    assert written.graph.dependents(REPORT) == (END,)
    assert written.graph.dependents(JOB.task("nobody")) == ()


def test_an_edge_is_removed_once(written: Backend) -> None:
    first = written.graph.remove_edge(REPORT, "color-tags@1", completed=True)
    again = written.graph.remove_edge(REPORT, "color-tags@1", completed=True)
    assert first.waiting_on == again.waiting_on == {"font-pairing@1"}
    assert first.not_completed == frozenset()


@pytest.mark.parametrize("completed", [True, False])
def test_an_edge_of_another_run_removes_nothing(written: Backend, completed: bool) -> None:
    redriven = a_task("color-tags", run=2)
    task = written.graph.remove_edge(REPORT, redriven.token, completed=completed)
    assert task.waiting_on == {"color-tags@1", "font-pairing@1"}
    assert task.not_completed == frozenset()


def test_a_parent_that_did_not_complete_is_remembered(written: Backend) -> None:
    written.graph.remove_edge(REPORT, "color-tags@1", completed=False)
    task = written.graph.remove_edge(REPORT, "font-pairing@1", completed=True)
    assert not task.waiting_on
    assert task.not_completed == {"color-tags"}


def test_nothing_is_decided_while_a_parent_is_missing(written: Backend) -> None:
    task = written.graph.remove_edge(REPORT, "color-tags@1", completed=True)
    assert written.graph.decide(task, READY, now_ms=NOW_MS) is None


def test_a_task_is_decided_once(written: Backend) -> None:
    written.graph.remove_edge(REPORT, "color-tags@1", completed=True)
    task = written.graph.remove_edge(REPORT, "font-pairing@1", completed=True)
    decided = written.graph.decide(task, READY, now_ms=NOW_MS + 7)
    assert decided is not None
    assert (decided.state, decided.ready_at_ms) == (TaskState.READY, NOW_MS + 7)
    assert decided.fence == task.fence + 1
    assert written.graph.decide(task, READY, now_ms=NOW_MS + 9) is None


def test_a_skipped_task_is_settled_with_its_reason(written: Backend) -> None:
    for token in ("color-tags@1", "font-pairing@1"):
        task = written.graph.remove_edge(REPORT, token, completed=False)
    skipped = written.graph.decide(task, Verdict(TaskState.SKIPPED, "no luck"), now_ms=NOW_MS)
    assert skipped is not None
    assert skipped.outcome is not None
    assert (skipped.state, skipped.outcome.error) == (TaskState.SKIPPED, "no luck")
    assert skipped.settled_at_ms == NOW_MS


def test_marking_queued_leaves_a_faster_worker_alone(written: Backend) -> None:
    root = JOB.task("scrape-store")
    task = written.graph.remove_edge(root, f"{START}@1", completed=True)
    decided = written.graph.decide(task, READY, now_ms=NOW_MS)
    assert decided is not None
    written.leases.claim(root, owner="w", now_ms=NOW_MS, lease_ms=1000)
    written.graph.mark_queued(decided, now_ms=NOW_MS)
    claimed = written.graph.find(root)
    assert claimed is not None
    assert claimed.state is TaskState.PROCESSING


def test_a_due_time_is_cleared_only_from_the_task_that_was_read(written: Backend) -> None:
    start = written.graph.find(JOB.task(START))
    assert start is not None
    assert start.due_at_ms is not None
    written.graph.clear_due(replace(start, fence=start.fence - 1))
    assert written.graph.find(start.ref) == start
    written.graph.clear_due(start)
    cleared = written.graph.find(start.ref)
    assert cleared is not None
    assert cleared.due_at_ms is None


def test_states_are_read_by_name(written: Backend) -> None:
    found = written.graph.find_many([REPORT, JOB.task("nobody")])
    assert {name: task.state for name, task in found.items()} == {
        "compile-result": TaskState.WAITING
    }


def test_an_edge_into_nowhere_is_an_error(written: Backend) -> None:
    with pytest.raises(UnknownTask):
        written.graph.remove_edge(JOB.task("nobody"), "color-tags@1", completed=True)
