"""Makes events of a task's stored transitions; the same input gives the same event."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from typing import Final

from switchyard.contracts.events import (
    MemoryUsage,
    Properties,
    ReportedActivity,
    TaskCancelled,
    TaskCompleted,
    TaskExpanded,
    TaskFailed,
    TaskHeartbeat,
    TaskHeld,
    TaskPending,
    TaskProcessingFailed,
    TaskProcessingStarted,
    TaskRedriven,
    TaskReleased,
    TaskSkipped,
    TaskTimeout,
    UnmetCommitment,
    UsageFigures,
)
from switchyard.domain.jobs.redrive import Reopening
from switchyard.domain.measuring.spans import trace_of
from switchyard.domain.states import TaskState, task_status
from switchyard.domain.tasks.holds import Hold
from switchyard.domain.tasks.readiness import DISPATCHER
from switchyard.domain.tasks.task import Json, Outcome, Task, Usage
from switchyard.usecases.events.emitting import Fact


def pending(task: Task) -> Fact:
    emitted = TaskPending(**_identity(task), name=task.definition)
    return _fact(task, emitted, task.ready_at_ms or 0)


def held(task: Task, hold: Hold) -> Fact:
    """Return the event of a held task, which is ready or was since."""
    ready_at_ms = task.ready_at_ms or 0
    emitted = TaskHeld(
        **_identity(task),
        kind=hold.kind.value,
        held_until=hold.ends_at_ms(ready_at_ms),
        question=hold.question,
    )
    return _fact(task, emitted, ready_at_ms)


def expanded(task: Task, *, items: int) -> Fact:
    """Return the event of a ready task, before its items may run."""
    return _fact(task, TaskExpanded(**_identity(task), items=items), task.ready_at_ms or 0)


def redriven(
    task: Task, reopening: Reopening, *, job_run: int, at_ms: int, by: str | None = None
) -> Fact:
    """Return the event of a reopening; `task` may have moved on, the fence is the reopening's."""
    emitted = TaskRedriven(
        **_identity(replace(task, fence=reopening.fence + 1)),
        job_run=job_run,
        previous_status=task_status(reopening.state, attempt=0),
        requested_by=by,
    )
    return _fact(task, emitted, at_ms)


def started(task: Task, *, worker_id: str, process_id: int) -> Fact:
    emitted = TaskProcessingStarted(
        **_identity(task),
        name=task.definition,
        effective_until=task.lease_until_ms,
        worker_id=worker_id,
        process_id=process_id,
    )
    return _fact(task, emitted, task.started_at_ms or 0)


def heartbeat(
    task: Task,
    *,
    number: int,
    worker_id: str,
    process_id: int,
    resident_bytes: int,
    last_activity: ReportedActivity | None,
    at_ms: int,
) -> Fact:
    """Return the heartbeat of a task as its renewal left it."""
    emitted = TaskHeartbeat(
        **_identity(task),
        effective_until=task.lease_until_ms,
        heartbeat_number=number,
        elapsed_ms=at_ms - (task.started_at_ms or at_ms),
        worker_id=worker_id,
        process_id=process_id,
        memory_usage=MemoryUsage(rss=resident_bytes),
        last_activity=last_activity,
    )
    return _fact(task, emitted, at_ms)


def attempt_failed(task: Task, failure: Outcome, *, attempt: int, at_ms: int) -> Fact:
    """The failure as it would have ended the task, had it been the last attempt."""
    emitted = TaskProcessingFailed(
        **_identity(task),
        name=task.definition,
        attempt_number=attempt,
        error=failure.error or "unknown",
        error_category=failure.error_category or "unknown",
        duration_ms=failure.duration_ms or None,
        usage=_spent(failure.usage),
        unmet=_unmet(task, attempt),
        started_at=task.started_at_ms,
        attempt=attempt,
    )
    return _fact(task, emitted, at_ms)


def released(task: Task, *, reason: str, at_ms: int) -> Fact:
    """The attempt was given back, so that the task counts one less."""
    emitted = TaskReleased(
        **_identity(task),
        reason=reason,
        not_before=task.not_before_ms,
        started_at=task.started_at_ms,
        attempt=task.attempt + 1,
    )
    return _fact(task, emitted, at_ms)


def settled(task: Task, *, output: Json) -> Fact:
    """The event of a settled task, from what its settling stored and nothing else."""
    outcome = task.outcome or Outcome(state=task.state)
    emitted = _EMIT[task.state](task, outcome, output)
    return _fact(task, emitted, task.settled_at_ms or 0)


def _completed(task: Task, outcome: Outcome, output: Json) -> Properties:
    return TaskCompleted(
        **_identity(task),
        **_ended(task),
        name=task.definition,
        output=output,
        duration_ms=outcome.duration_ms,
        exit_code=outcome.exit_code or 0,
        usage=UsageFigures(**asdict(outcome.usage)),
        kind=task.kind,
        decided_by=outcome.decided_by,
        verified=task.commitments.verified if task.commitments else None,
        commitments_met=task.commitments.met if task.commitments else None,
    )


_SOURCES: Final = ("dlq", DISPATCHER)


def _failed(task: Task, outcome: Outcome, _output: Json) -> Properties:
    return TaskFailed(
        **_identity(task),
        **_ended(task),
        name=task.definition,
        error=outcome.error or "unknown",
        error_category=outcome.error_category or "unknown",
        retry_count=max(task.attempt - 1, 0),
        source=outcome.source if outcome.source in _SOURCES else "worker",
        kind=task.kind,
        decided_by=outcome.decided_by,
        duration_ms=outcome.duration_ms or None,
        usage=_spent(outcome.usage),
        unmet=_unmet(task, task.attempt),
    )


def _timed_out(task: Task, outcome: Outcome, _output: Json) -> Properties:
    return TaskTimeout(
        **_identity(task),
        **_ended(task),
        name=task.definition,
        timeout_ms=outcome.timeout_ms or 0,
        elapsed_ms=outcome.duration_ms,
        signal="SIGKILL" if outcome.signal == "SIGKILL" else "SIGTERM",
        usage=_spent(outcome.usage),
    )


def _unmet(task: Task, attempt: int) -> tuple[UnmetCommitment, ...] | None:
    """Return what the attempt lacked; of an earlier one its own event says so."""
    checked = task.commitments
    if checked is None or checked.attempt != attempt or not checked.missing:
        return None
    return tuple(
        UnmetCommitment(name=one.name, kind=one.kind, reason=one.reason) for one in checked.missing
    )


def _spent(usage: Usage) -> UsageFigures | None:
    return None if usage == Usage() else UsageFigures(**asdict(usage))


def _skipped(task: Task, outcome: Outcome, _output: Json) -> Properties:
    return TaskSkipped(**_identity(task), reason=outcome.error or "its rule did not hold")


def _cancelled(task: Task, outcome: Outcome, _output: Json) -> Properties:
    reason = outcome.error or "cancellation was requested"
    return TaskCancelled(**_identity(task), **_ended(task), kind=task.kind, reason=reason)


_EMIT: Final[Mapping[TaskState, Callable[[Task, Outcome, Json], Properties]]] = {
    TaskState.COMPLETED: _completed,
    TaskState.FAILED: _failed,
    TaskState.TIMED_OUT: _timed_out,
    TaskState.SKIPPED: _skipped,
    TaskState.CANCELLED: _cancelled,
}


def _fact(task: Task, emitted: Properties, at_ms: int) -> Fact:
    return Fact(task.ref.tenant, emitted, at_ms, trace_of(task))


def _ended(task: Task) -> dict[str, str | int | None]:
    """The attempt that was under way when the task was settled, by whomever."""
    if task.owner is None:
        return {}
    return {
        "started_at": task.started_at_ms,
        "attempt": task.attempt,
        "worker_id": task.owner.partition("/")[0],
    }


def _identity(task: Task) -> dict[str, str | int]:
    of_a_job = {} if task.ref.bare else {"job_id": task.ref.job_id}
    return {
        "request_id": task.ref.request_id,
        **of_a_job,
        "run": task.run,
        "fence": task.fence,
    }
