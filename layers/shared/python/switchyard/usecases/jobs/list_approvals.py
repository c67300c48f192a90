"""Lists what waits for a person: the held approvals of a tenant's open jobs, newest jobs first."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from switchyard.contracts.changes import ApprovalPage, HeldApproval
from switchyard.contracts.problems import beginning
from switchyard.contracts.wire import instant
from switchyard.domain.access.limits import OpenJob
from switchyard.domain.errors import Rejected, UnknownJob
from switchyard.domain.ids import ANY_TASK_ID, JOB_ID, TaskRef
from switchyard.domain.jobs.job import Job, JobStates
from switchyard.domain.states import TaskKind, TaskState
from switchyard.domain.tasks.holds import hold_of
from switchyard.domain.tasks.task import Payload, Task
from switchyard.ports import JobStore, OpenTasks, Payloads, TaskGraph

MOST_JOBS: Final = 100
"""Jobs that one request looks at; each is a query."""
MOST_TASKS: Final = 5_000
"""Tasks of those jobs, in the time that one request has. The first job may have more."""
MAX_SHOWN_QUESTION: Final = 300
"""Characters."""
_WHOLE_JOB: Final = "~"  # sorts behind every task id
_CURSOR: Final = re.compile(
    rf"(?P<job>\d{{13}}#{JOB_ID.pattern})#(?P<task>{ANY_TASK_ID.pattern}|{_WHOLE_JOB})"
)


@dataclass(frozen=True, kw_only=True)
class HeldApprovals:
    open_tasks: OpenTasks
    jobs: JobStore
    graph: TaskGraph
    payloads: Payloads

    def page(self, tenant: str, *, limit: int, cursor: str | None = None) -> ApprovalPage:
        """Return so many at most, and a cursor unless all open jobs were looked at.

        Raise `Rejected` for a cursor that is not one of ours.
        """
        start, after = _read(cursor)
        newest = sorted(self.open_tasks.of_tenant(tenant), key=_order, reverse=True)
        jobs = [job for job in newest if _comes_now(job, start, after)]
        found: list[HeldApproval] = []
        tasks = 0
        for number, job in enumerate(jobs):
            if number == MOST_JOBS or tasks > MOST_TASKS:
                return _page(found, jobs[number - 1], _WHOLE_JOB)
            states = self._states(job)
            tasks += len(states.tasks) if states else 0
            held = _held_in(states, after=after if _order(job) == start else "")
            room = limit - len(found)
            found += self._shown(states, held[:room])
            if len(held) >= room:
                more = len(held) > room or number + 1 < len(jobs)
                return _page(found, job if more else None, held[room - 1].task_id)
        return _page(found)

    def _states(self, job: OpenJob) -> JobStates | None:
        """Return `None` for a job that is counted and not written yet."""
        try:
            return self.jobs.states(job.ref)
        except UnknownJob:
            return None

    def _shown(self, states: JobStates | None, refs: Sequence[TaskRef]) -> Iterator[HeldApproval]:
        if states is None or not refs:
            return
        tasks, payloads = self.graph.find_many(refs), self.payloads.read_many(refs)
        for ref in refs:
            task = tasks.get(ref.task_id)
            if task is not None and task.state is TaskState.HELD:
                yield _approval(states.job, task, payloads.get(ref.task_id, Payload()))


def _held_in(states: JobStates | None, *, after: str) -> list[TaskRef]:
    """Return the held approvals by their ids, from the one behind `after`."""
    held = [
        task.ref
        for task in (states.visible_tasks if states else ())
        if task.state is TaskState.HELD and task.kind is TaskKind.APPROVAL
    ]
    return sorted((ref for ref in held if ref.task_id > after), key=lambda ref: ref.task_id)


def _approval(job: Job, task: Task, payload: Payload) -> HeldApproval:
    question = hold_of(TaskKind.APPROVAL, payload.hold).question
    return HeldApproval(
        job_id=job.ref.job_id,
        task_id=task.ref.task_id,
        request_id=task.ref.request_id,
        name=job.name,
        question=beginning(question, MAX_SHOWN_QUESTION) if question else None,
        held_since=instant(task.ready_at_ms),
        held_until=instant(task.held_until_ms or None),
    )


def _order(job: OpenJob) -> str:
    return f"{job.since_ms:013d}#{job.ref.job_id}"


def _comes_now(job: OpenJob, start: str | None, after: str) -> bool:
    """Whether the job was not looked at as a whole: looking again would never come to an end."""
    if start is None or _order(job) < start:
        return True
    return _order(job) == start and after != _WHOLE_JOB


def _read(cursor: str | None) -> tuple[str | None, str]:
    """Return the job to begin with, and the task of it that was shown last."""
    if cursor is None:
        return None, ""
    match = _CURSOR.fullmatch(cursor)
    if not match:
        raise Rejected("cursor: not one that a listing returned")
    return match["job"], match["task"]


def _page(
    found: Sequence[HeldApproval], job: OpenJob | None = None, task: str = ""
) -> ApprovalPage:
    cursor = f"{_order(job)}#{task}" if job else None
    return ApprovalPage(approvals=tuple(found), cursor=cursor)
