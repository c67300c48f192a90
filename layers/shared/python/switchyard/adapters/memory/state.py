"""The state table, in memory: jobs, tasks, edges and data under one lock."""

import threading
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from switchyard.domain import due
from switchyard.domain.claims import Claimable, decide_claim
from switchyard.domain.errors import Conflict, LeaseLost, Rejected, UnknownJob, UnknownTask
from switchyard.domain.ids import START, JobRef, TaskRef
from switchyard.domain.job import Job, JobPicture
from switchyard.domain.plan import JobPlan
from switchyard.domain.readiness import Verdict
from switchyard.domain.states import JobState, TaskState
from switchyard.domain.task import Json, Lease, Outcome, Payload, Task, parent_of
from switchyard.ports import Claimed, PageOfJobs, Refused


@dataclass
class MemoryState:
    jobs: dict[JobRef, Job] = field(default_factory=dict)
    tasks: dict[TaskRef, Task] = field(default_factory=dict)
    dependents: dict[TaskRef, tuple[str, ...]] = field(default_factory=dict)
    payloads: dict[TaskRef, Payload] = field(default_factory=dict)
    lock: threading.RLock = field(default_factory=threading.RLock)


class MemoryJobIntake:
    def __init__(self, state: MemoryState) -> None:
        self._state = state

    def write(self, plan: JobPlan) -> None:
        ref = plan.job.ref
        with self._state.lock:
            if ref in self._state.jobs:
                raise Conflict(f"{ref.job_id} exists already")
            self._state.jobs[ref] = plan.job
            self._state.tasks |= {task.ref: task for task in plan.tasks}
            self._state.dependents |= {ref.task(t): names for t, names in plan.dependents.items()}
            self._state.payloads |= {ref.task(t): data for t, data in plan.payloads.items()}

    def open(self, plan: JobPlan, *, now_ms: int) -> None:
        with self._state.lock:
            job = self._state.jobs[plan.job.ref]
            if job.state is not JobState.WRITING:
                raise Conflict(f"{job.ref.job_id} was opened already")
            start = self._state.tasks[job.ref.task(START)]
            self._state.jobs[job.ref] = replace(
                job, state=JobState.OPEN, due_at_ms=now_ms + due.JOB_AUDIT
            )
            self._state.tasks[start.ref] = replace(
                start,
                state=TaskState.COMPLETED,
                fence=start.fence + 1,
                settled_at_ms=now_ms,
                due_at_ms=now_ms + due.AFTER_SETTLING,
            )


class MemoryJobStore:
    def __init__(self, state: MemoryState) -> None:
        self._state = state

    def find(self, ref: JobRef) -> Job | None:
        return self._state.jobs.get(ref)

    def picture(self, ref: JobRef) -> JobPicture:
        with self._state.lock:
            if ref not in self._state.jobs:
                raise UnknownJob(ref.job_id)
            tasks = sorted(t for t in self._state.tasks if t.job == ref)
            return JobPicture(
                job=self._state.jobs[ref],
                tasks=tuple(self._state.tasks[t] for t in tasks),
                depends_on=self._parents(ref),
            )

    def page(self, tenant: str, *, limit: int, cursor: str | None) -> PageOfJobs:
        if cursor is not None and "#job-" not in cursor:
            raise Rejected("cursor: not one that a listing returned")
        jobs = [job for job in self._state.jobs.values() if _is_listed(job, tenant)]
        ordered = sorted(jobs, key=lambda job: job.listing_order, reverse=True)
        rest = [job for job in ordered if cursor is None or job.listing_order < cursor]
        page = rest[:limit]
        return PageOfJobs(tuple(page), page[-1].listing_order if len(rest) > limit else None)

    def note_failure(self, job: Job, *, task_id: str, now_ms: int) -> Job:
        with self._state.lock:
            stored = self._state.jobs[job.ref]
            if stored.failure_detected_at_ms is None and stored.run == job.run:
                stored = replace(stored, failure_detected_at_ms=now_ms, failed_task_id=task_id)
                self._state.jobs[job.ref] = stored
            return stored

    def settle(self, job: Job, state: JobState, *, now_ms: int) -> Job:
        with self._state.lock:
            stored = self._state.jobs[job.ref]
            if stored.state is JobState.OPEN and stored.run == job.run:
                stored = replace(stored, state=state, settled_at_ms=now_ms, due_at_ms=None)
                self._state.jobs[job.ref] = stored
            return stored

    def _parents(self, ref: JobRef) -> dict[str, tuple[str, ...]]:
        parents: defaultdict[str, list[str]] = defaultdict(list)
        for parent, children in sorted(self._state.dependents.items()):
            if parent.job == ref and not parent.hidden:
                for child in children:
                    parents[child].append(parent.task_id)
        return {child: tuple(names) for child, names in parents.items()}


class MemoryTaskLeases:
    def __init__(self, state: MemoryState) -> None:
        self._state = state

    def claim(
        self, ref: TaskRef, *, owner: str, now_ms: int, lease_ms: int
    ) -> Claimed | Refused | None:
        with self._state.lock:
            task = self._state.tasks.get(ref)
            if task is None:
                return None
            decision = decide_claim(task, now_ms=now_ms)
            if not isinstance(decision, Claimable):
                return Refused(task, decision)
            claimed = replace(
                task,
                state=TaskState.PROCESSING,
                owner=owner,
                fence=task.fence + 1,
                attempt=task.attempt + 1,
                lease_until_ms=now_ms + lease_ms,
                started_at_ms=now_ms,
                due_at_ms=now_ms + lease_ms + due.AFTER_LEASE,
            )
            self._state.tasks[ref] = claimed
            return Claimed(claimed, Lease(claimed, owner))

    def renew(self, lease: Lease, *, lease_until_ms: int) -> Task:
        with self._state.lock:
            return self._store(replace(self._held(lease), lease_until_ms=lease_until_ms))

    def settle(self, lease: Lease, outcome: Outcome, *, output: Json, now_ms: int) -> Task:
        with self._state.lock:
            task = self._held(lease)
            if outcome.state is TaskState.COMPLETED:
                payload = self._state.payloads[task.ref]
                self._state.payloads[task.ref] = replace(payload, output=output)
            return self._store(_settled(task, outcome, now_ms))

    def release(
        self,
        lease: Lease,
        *,
        not_before_ms: int,
        now_ms: int,
        give_attempt_back: bool,
        error: str | None = None,
    ) -> Task:
        with self._state.lock:
            task = self._held(lease)
            return self._store(
                replace(
                    task,
                    state=TaskState.QUEUED,
                    not_before_ms=not_before_ms,
                    attempt=task.attempt - 1 if give_attempt_back else task.attempt,
                    owner=None,
                    lease_until_ms=0,
                    last_error=error or task.last_error,
                    due_at_ms=max(now_ms, not_before_ms) + due.AFTER_QUEUED,
                )
            )

    def give_up(self, task: Task, outcome: Outcome, *, now_ms: int) -> Task | None:
        with self._state.lock:
            stored = self._state.tasks[task.ref]
            lapsed = stored.state is TaskState.PROCESSING and stored.lease_until_ms < now_ms
            idle = stored.state in {TaskState.READY, TaskState.QUEUED}
            if stored.fence != task.fence or not (lapsed or idle):
                return None
            return self._store(_settled(replace(stored, fence=stored.fence + 1), outcome, now_ms))

    def _held(self, lease: Lease) -> Task:
        task = self._state.tasks.get(lease.ref)
        if (
            task is None
            or task.state is not TaskState.PROCESSING
            or (task.fence, task.owner) != (lease.fence, lease.owner)
        ):
            raise LeaseLost(f"{lease.ref.request_id} is no longer ours")
        return task

    def _store(self, task: Task) -> Task:
        self._state.tasks[task.ref] = task
        return task


class MemoryTaskGraph:
    def __init__(self, state: MemoryState) -> None:
        self._state = state

    def find(self, ref: TaskRef) -> Task | None:
        return self._state.tasks.get(ref)

    def dependents(self, ref: TaskRef) -> tuple[str, ...]:
        return self._state.dependents.get(ref, ())

    def find_many(self, refs: Sequence[TaskRef]) -> Mapping[str, Task]:
        with self._state.lock:
            found = [self._state.tasks[ref] for ref in refs if ref in self._state.tasks]
        return {task.ref.task_id: task for task in found}

    def remove_edge(self, ref: TaskRef, token: str, *, completed: bool) -> Task:
        with self._state.lock:
            task = self._state.tasks.get(ref)
            if task is None:
                raise UnknownTask(ref.request_id)
            if token not in task.waiting_on:
                return task
            lost = frozenset() if completed else frozenset({parent_of(token)})
            task = replace(
                task,
                waiting_on=task.waiting_on - {token},
                not_completed=task.not_completed | lost,
            )
            self._state.tasks[ref] = task
            return task

    def decide(self, task: Task, verdict: Verdict, *, now_ms: int) -> Task | None:
        with self._state.lock:
            stored = self._state.tasks[task.ref]
            if stored.state is not TaskState.WAITING or stored.waiting_on or stored.run != task.run:
                return None
            decided = replace(stored, state=verdict.state, fence=stored.fence + 1)
            if verdict.state is TaskState.READY:
                decided = replace(decided, ready_at_ms=now_ms, due_at_ms=now_ms + due.AFTER_READY)
            else:
                decided = _settled(
                    decided, Outcome(state=verdict.state, error=verdict.reason), now_ms
                )
            self._state.tasks[task.ref] = decided
            return decided

    def mark_queued(self, task: Task, *, now_ms: int) -> None:
        with self._state.lock:
            stored = self._state.tasks[task.ref]
            if stored.state is TaskState.READY and stored.run == task.run:
                self._state.tasks[task.ref] = replace(
                    stored,
                    state=TaskState.QUEUED,
                    fence=stored.fence + 1,
                    due_at_ms=now_ms + due.AFTER_QUEUED,
                )

    def clear_due(self, task: Task) -> None:
        with self._state.lock:
            stored = self._state.tasks[task.ref]
            if (stored.state, stored.fence, stored.run) == (task.state, task.fence, task.run):
                self._state.tasks[task.ref] = replace(stored, due_at_ms=None)


class MemoryPayloads:
    def __init__(self, state: MemoryState) -> None:
        self._state = state

    def read(self, ref: TaskRef) -> Payload:
        return self._state.payloads.get(ref, Payload())

    def outputs(self, job: JobRef, task_ids: Sequence[str]) -> Mapping[str, Json]:
        return {
            task_id: self._state.payloads[job.task(task_id)].output
            for task_id in task_ids
            if self._completed(job.task(task_id))
        }

    def _completed(self, ref: TaskRef) -> bool:
        task = self._state.tasks.get(ref)
        return task is not None and task.state is TaskState.COMPLETED


def _settled(task: Task, outcome: Outcome, now_ms: int) -> Task:
    return replace(
        task,
        state=outcome.state,
        outcome=outcome,
        settled_at_ms=now_ms,
        due_at_ms=now_ms + due.AFTER_SETTLING,
    )


def _is_listed(job: Job, tenant: str) -> bool:
    return job.ref.tenant == tenant and job.state is not JobState.WRITING
