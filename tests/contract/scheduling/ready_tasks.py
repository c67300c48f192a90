"""Tasks of which a test needs nothing but that they may run."""

from dataclasses import replace
from typing import Any

from switchyard.domain.ids import TaskRef
from switchyard.domain.scheduling.ready import may_start_at_ms, ready_key
from switchyard.domain.states import TaskState
from switchyard.domain.tasks.task import Task
from switchyard.ports import Claimed
from tests.builders import JOB, NOW_MS, a_plan, a_task
from tests.contract.conftest import Backend

LEASE_MS = 45_000


def queued(task_id: str, **facts: Any) -> Task:
    """Return a task as a dispatcher leaves it, with its key."""
    task = a_task(task_id, **{"ready_at_ms": NOW_MS, "fence": 2} | facts)
    key: Any = ready_key(task, may_start_at_ms(task, NOW_MS) or NOW_MS)
    return replace(task, **key)


def store(backend: Backend, *tasks: Task) -> None:
    plan = a_plan({task.ref.task_id: [] for task in tasks})
    payloads = {one: plan.payloads[one] for one in plan.payloads}
    backend.intake.write(replace(plan, tasks=tasks, dependents={}, payloads=payloads))


def the_task(backend: Backend, task_id: str = "a") -> Task:
    task = backend.graph.find(JOB.task(task_id))
    assert task is not None
    return task


def claimed(
    backend: Backend, task_id: str = "a", *, now_ms: int = NOW_MS, owner: str | None = None
) -> Claimed:
    ref: TaskRef = JOB.task(task_id)
    answer = backend.leases.claim(
        ref, owner=owner or f"owner of {task_id}", now_ms=now_ms, lease_ms=LEASE_MS
    )
    assert isinstance(answer, Claimed), answer
    assert answer.task.state is TaskState.PROCESSING
    return answer
