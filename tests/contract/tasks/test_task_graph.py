"""The contract of `TaskGraph`."""

from dataclasses import replace
from typing import Any

import pytest

from switchyard.domain.errors import UnknownTask
from switchyard.domain.ids import END, START
from switchyard.domain.jobs.limits import MAX_NAMES
from switchyard.domain.states import TaskState
from switchyard.domain.tasks import due
from switchyard.domain.tasks.readiness import Readiness
from switchyard.domain.tasks.task import Outcome, edge_token
from tests.builders import JOB, NOW_MS, a_plan, a_task
from tests.contract.conftest import Backend

REPORT = JOB.task("compile-result")
BOTH_COMPLETED = {"color-tags@1": True, "font-pairing@1": True}
READY = Readiness(TaskState.READY, "all_completed holds")


@pytest.fixture
def written(backend: Backend) -> Backend:
    plan = a_plan()
    backend.intake.write(plan)
    backend.intake.open(plan, now_ms=NOW_MS)
    return backend


def test_edges_lead_from_the_start_to_the_end(written: Backend) -> None:
    names = (START, "scrape-store", "compile-result", "nobody", END)
    edges = written.graph.edges_from([JOB.task(name) for name in names])
    assert {name: set(children) for name, children in edges.items()} == {
        START: {"scrape-store", "analyze-competitors"},
        "scrape-store": {"color-tags", "font-pairing"},
        "compile-result": {END},
    }
    assert written.graph.edges_from([]) == {}


def test_an_edge_is_removed_once(written: Backend) -> None:
    first = written.graph.remove_edges(REPORT, {"color-tags@1": True})
    again = written.graph.remove_edges(REPORT, {"color-tags@1": False})
    assert first.waiting_on == again.waiting_on == {"font-pairing@1"}
    assert first.not_completed == again.not_completed == frozenset()


@pytest.mark.parametrize("completed", [True, False])
def test_an_edge_of_another_run_removes_nothing(written: Backend, completed: bool) -> None:
    redriven = a_task("color-tags", run=2)
    task = written.graph.remove_edges(REPORT, {redriven.token: completed})
    assert task.waiting_on == {"color-tags@1", "font-pairing@1"}
    assert task.not_completed == frozenset()


def test_edges_are_removed_together_and_only_the_lost_parents_are_remembered(
    written: Backend,
) -> None:
    task = written.graph.remove_edges(REPORT, {"color-tags@1": False, "font-pairing@1": True})
    assert not task.waiting_on
    assert task.not_completed == {"color-tags"}
    assert written.graph.find(REPORT) == task


@pytest.mark.parametrize("gone", ["color-tags@1", "font-pairing@1"])
def test_of_several_edges_those_that_are_left_are_removed(written: Backend, gone: str) -> None:
    written.graph.remove_edges(REPORT, {gone: True})
    both = {"color-tags@1": False, "font-pairing@1": False, "nobody@1": False}
    task = written.graph.remove_edges(REPORT, both)
    assert not task.waiting_on
    assert task.not_completed == {"color-tags", "font-pairing"} - {gone.removesuffix("@1")}


def test_as_many_edges_as_there_may_be_are_removed_in_one_request(backend: Backend) -> None:
    """A condition has a limit: 4 KB."""
    parents = [f"parent-{n}-{'x' * 110}" for n in range(MAX_NAMES)]
    plan = a_plan({**{name: [] for name in parents}, "child": parents})
    backend.intake.write(plan)
    task = backend.graph.remove_edges(
        JOB.task("child"), {edge_token(name, 1): False for name in parents}
    )
    assert not task.waiting_on
    assert task.not_completed == set(parents)


def test_more_edges_than_a_request_takes_are_removed_all_the_same(written: Backend) -> None:
    others = {edge_token(f"other-{n}", 1): True for n in range(MAX_NAMES)}
    both = {"color-tags@1": True, "font-pairing@1": False}
    task = written.graph.remove_edges(REPORT, others | both)
    assert not task.waiting_on
    assert task.not_completed == {"font-pairing"}


def test_nothing_is_decided_while_a_parent_is_missing(written: Backend) -> None:
    task = written.graph.remove_edges(REPORT, {"color-tags@1": True})
    assert written.graph.decide(task, READY, now_ms=NOW_MS) == task
    assert written.graph.find(REPORT) == task


def test_a_task_is_decided_once(written: Backend) -> None:
    task = written.graph.remove_edges(REPORT, BOTH_COMPLETED)
    decided = written.graph.decide(task, READY, now_ms=NOW_MS + 7)
    assert (decided.state, decided.ready_at_ms) == (TaskState.READY, NOW_MS + 7)
    assert decided.fence == task.fence + 1
    assert written.graph.decide(task, READY, now_ms=NOW_MS + 9) == decided
    assert written.graph.find(REPORT) == decided


@pytest.mark.parametrize(
    "read", [{"run": 2}, {"cancel_requested": True}], ids=["another run", "flagged"]
)
def test_nothing_is_decided_that_is_not_as_it_was_read(
    written: Backend, read: dict[str, Any]
) -> None:
    task = written.graph.remove_edges(REPORT, BOTH_COMPLETED)
    assert written.graph.decide(replace(task, **read), READY, now_ms=NOW_MS) == task


@pytest.mark.parametrize("seen", [True, False])
def test_a_flag_that_nobody_saw_forbids_to_decide(backend: Backend, seen: bool) -> None:
    flagged = a_task("scrape-store", state=TaskState.WAITING, cancel_requested=True)
    plan = a_plan()
    others = [task for task in plan.tasks if task.ref != flagged.ref]
    backend.intake.write(replace(plan, tasks=(*others, flagged)))
    verdict = Readiness(TaskState.CANCELLED, "cancellation was requested")
    read = replace(flagged, cancel_requested=seen)
    decided = backend.graph.decide(read, verdict, now_ms=NOW_MS)
    assert decided.state is (TaskState.CANCELLED if seen else TaskState.WAITING)
    assert decided.cancel_requested


def test_a_skipped_task_is_settled_with_its_reason(written: Backend) -> None:
    task = written.graph.remove_edges(REPORT, BOTH_COMPLETED)
    verdict = Readiness(TaskState.SKIPPED, "no luck", category="failure")
    skipped = written.graph.decide(task, verdict, now_ms=NOW_MS)
    assert skipped.state is TaskState.SKIPPED
    assert skipped.outcome == Outcome(
        state=TaskState.SKIPPED, error="no luck", error_category="failure"
    )
    assert skipped.settled_at_ms == NOW_MS
    assert skipped.due_at_ms == NOW_MS + due.AFTER_SETTLING


def test_marking_queued_leaves_a_faster_worker_alone(written: Backend) -> None:
    root = JOB.task("scrape-store")
    task = written.graph.remove_edges(root, {f"{START}@1": True})
    decided = written.graph.decide(task, READY, now_ms=NOW_MS)
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
    nobody = a_task("nobody", state=TaskState.WAITING)
    with pytest.raises(UnknownTask):
        written.graph.remove_edges(nobody.ref, {"color-tags@1": True})
    with pytest.raises(UnknownTask):
        written.graph.decide(nobody, READY, now_ms=NOW_MS)
