"""Compares the log with the state table, for one job. Neither is asked to decide anything.

The log may be behind: events travel. It may also know less: the starts of attempts, their failures
and their release have events at best, so attempts are compared only where no fence is missing.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from switchyard.domain.events.fold import JobFold, Outcome, TaskFold
from switchyard.domain.states import SETTLED, TaskState, task_status
from switchyard.domain.tasks.task import Json

FINAL: Final = frozenset(
    task_status(state, attempt=1) for state in SETTLED - {TaskState.NOT_COMPLETED}
)
NOT_EMITTED: Final = "not emitted"
MISSING: Final = "does not exist"


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskRecord:
    """A task as the state table shows it."""

    status: str
    run: int
    attempt: int
    outcome: Outcome = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class JobRecord:
    """A job as the state table shows it."""

    status: str
    run: int
    total_tasks: int
    failed_task_id: str | None
    tasks: Mapping[str, TaskRecord]


@dataclass(frozen=True, slots=True)
class Difference:
    path: str
    log: Json
    table: Json
    may_be_delay: bool = False


def compare(log: JobFold | None, table: JobRecord, *, in_flight: bool) -> tuple[Difference, ...]:
    """Return every difference. `in_flight`: the job moves, or did until just now."""
    if log is None:
        return (Difference("job", NOT_EMITTED, table.status, may_be_delay=in_flight),)
    return (*_of_job(log, table, in_flight=in_flight), *_of_tasks(log, table, in_flight=in_flight))


def _of_job(log: JobFold, table: JobRecord, *, in_flight: bool) -> Iterator[Difference]:
    if not log.creation_emitted:
        yield Difference("job.creation", NOT_EMITTED, table.status, may_be_delay=in_flight)
    late = in_flight and not _both_final(log, table)
    yield from _values("job", _facts(log), _facts(table), may_be_delay=late)


def _facts(job: JobFold | JobRecord) -> dict[str, Json]:
    return {
        "status": job.status,
        "run": job.run,
        "totalTasks": job.total_tasks,
        "failedTaskId": job.failed_task_id,
    }


def _of_tasks(log: JobFold, table: JobRecord, *, in_flight: bool) -> Iterator[Difference]:
    for task_id in sorted(log.tasks.keys() | table.tasks.keys()):
        path = f"tasks.{task_id}"
        emitted, stored = log.tasks.get(task_id), table.tasks.get(task_id)
        if stored is None:
            yield Difference(path, emitted.status if emitted else NOT_EMITTED, MISSING)
        elif emitted is None:
            yield Difference(path, NOT_EMITTED, stored.status, may_be_delay=in_flight)
        else:
            yield from _of_task(path, emitted, stored, in_flight=in_flight)


def _of_task(
    path: str, log: TaskFold, table: TaskRecord, *, in_flight: bool
) -> Iterator[Difference]:
    late = in_flight and not _both_final(log, table)
    emitted: dict[str, Json] = {"status": log.status, "run": log.run}
    stored: dict[str, Json] = {"status": table.status, "run": table.run}
    if log.attempt_known:
        emitted["attempt"], stored["attempt"] = log.attempt, table.attempt
    if table.attempt and not log.pending_emitted:
        emitted["pending"], stored["pending"] = NOT_EMITTED, f"attempt {table.attempt}"
    if log.status == table.status:
        for name, value in (log.outcome or {}).items():
            emitted[name], stored[name] = value, table.outcome.get(name)
    yield from _values(path, emitted, stored, may_be_delay=late)


def _both_final(log: JobFold | TaskFold, table: JobRecord | TaskRecord) -> bool:
    return log.run == table.run and {log.status, table.status} <= FINAL


def _values(path: str, log: Json, table: Json, *, may_be_delay: bool) -> Iterator[Difference]:
    """Compare by value: 1 is 1.0, but true is not 1."""
    match log, table:
        case dict(), dict():
            for name in {**log, **table}:
                mine, theirs = log.get(name, MISSING), table.get(name, MISSING)
                yield from _values(f"{path}.{name}", mine, theirs, may_be_delay=may_be_delay)
        case list(), list() if len(log) == len(table):
            for number, (mine, theirs) in enumerate(zip(log, table, strict=True)):
                yield from _values(f"{path}.{number}", mine, theirs, may_be_delay=may_be_delay)
        case _ if log != table or isinstance(log, bool) != isinstance(table, bool):
            yield Difference(path, log, table, may_be_delay)
