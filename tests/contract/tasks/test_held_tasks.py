"""The contract of held tasks: they are held once, and one resolution is accepted."""

from dataclasses import replace
from functools import partial

import pytest

from switchyard.domain.ids import START
from switchyard.domain.jobs.graph import TaskSpec
from switchyard.domain.jobs.plan import plan_job
from switchyard.domain.states import TaskKind, TaskState
from switchyard.domain.tasks import due
from switchyard.domain.tasks.claim_refusals import Busy
from switchyard.domain.tasks.holds import Hold, OnReject, Resolution
from switchyard.domain.tasks.readiness import Readiness
from switchyard.domain.tasks.task import Outcome, Task
from switchyard.ports import ClaimRefused
from tests.builders import JOB, NOW_MS
from tests.contract.conftest import Backend

GATE = JOB.task("gate")
HOLD = Hold(kind=TaskKind.APPROVAL, for_ms=5_000, question="Go on?", on_reject=OnReject.FAIL)
UNTIL = NOW_MS + 5_000
APPROVED = Resolution(Outcome(state=TaskState.COMPLETED, decided_by="ann"), {"approved": True})
REJECTED = Resolution(Outcome(state=TaskState.FAILED, error="rejected by bob"))


@pytest.fixture
def ready(backend: Backend) -> Task:
    """A task with a condition that no worker runs, and whose parents have settled."""
    spec = TaskSpec(task_id="gate", name="", when="true", hold=HOLD, input={"a": 1})
    plan = plan_job(JOB, name="flow", tags={}, specs=[spec], pinned={}, now_ms=NOW_MS)
    backend.intake.write(plan)
    free = backend.graph.remove_edges(GATE, {f"{START}@1": True})
    return backend.graph.decide(free, Readiness(TaskState.READY, "go"), now_ms=NOW_MS)


def found(backend: Backend) -> Task:
    task = backend.graph.find(GATE)
    assert task is not None
    return task


def held(backend: Backend, ready: Task) -> Task:
    backend.graph.hold(ready, held_until_ms=UNTIL)
    return found(backend)


def test_what_holds_a_task_is_stored_with_its_data(backend: Backend, ready: Task) -> None:
    assert (ready.kind, ready.conditional) == (TaskKind.APPROVAL, True)
    payload = backend.payloads.read(GATE)
    assert (payload.when, payload.hold, payload.input) == ("true", HOLD.stored(), {"a": 1})


def test_a_ready_task_is_held_until_its_time(backend: Backend, ready: Task) -> None:
    task = held(backend, ready)
    assert (task.state, task.held_until_ms, task.due_at_ms) == (TaskState.HELD, UNTIL, UNTIL)
    assert task.fence == ready.fence + 1
    backend.graph.hold(ready, held_until_ms=UNTIL + 1)
    assert found(backend) == task


def test_no_worker_claims_it_ready_or_held(backend: Backend, ready: Task) -> None:
    refusal = Busy("no worker runs it: it is an approval")
    claim = partial(backend.leases.claim, GATE, owner="w", now_ms=NOW_MS, lease_ms=1_000)
    assert claim() == ClaimRefused(ready, refusal)
    task = held(backend, ready)
    assert claim() == ClaimRefused(task, refusal)


def test_the_first_resolution_counts(backend: Backend, ready: Task) -> None:
    task = held(backend, ready)
    ended = backend.graph.resolve(task, APPROVED, now_ms=NOW_MS + 1, decision="first")
    assert ended == replace(
        task,
        state=TaskState.COMPLETED,
        outcome=APPROVED.outcome,
        decision="first",
        settled_at_ms=NOW_MS + 1,
        fence=task.fence + 1,
        due_at_ms=NOW_MS + 1 + due.AFTER_SETTLING,
    )
    assert backend.graph.resolve(task, REJECTED, now_ms=NOW_MS + 2, decision="second") is None
    assert backend.graph.resolve(task, APPROVED, now_ms=NOW_MS + 2, decision="third") is None
    assert found(backend) == ended
    assert backend.payloads.read(GATE).output == {"approved": True}


def test_the_same_request_is_answered_as_before(backend: Backend, ready: Task) -> None:
    task = held(backend, ready)
    first = backend.graph.resolve(task, REJECTED, now_ms=NOW_MS + 1, decision="d")
    assert first == backend.graph.resolve(task, REJECTED, now_ms=NOW_MS + 9, decision="d")
    assert backend.payloads.read(GATE).output is None


def test_what_was_cancelled_is_not_resolved(backend: Backend, ready: Task) -> None:
    task = held(backend, ready)
    assert backend.cancelling.cancel(task, now_ms=NOW_MS) is not None
    assert backend.graph.resolve(task, APPROVED, now_ms=NOW_MS, decision="late") is None
    assert found(backend).state is TaskState.CANCELLED
    assert backend.payloads.read(GATE).output is None
