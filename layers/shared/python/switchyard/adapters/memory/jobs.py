"""Jobs, in memory."""

from collections import defaultdict
from dataclasses import replace

from switchyard.adapters.memory.state import MemoryState
from switchyard.domain import due
from switchyard.domain.errors import Conflict, Rejected, UnknownJob
from switchyard.domain.ids import START, JobRef
from switchyard.domain.job import Job, JobPicture
from switchyard.domain.plan import JobPlan
from switchyard.domain.states import JobState, TaskState
from switchyard.ports import PageOfJobs


class MemoryJobIntake:
    def __init__(self, state: MemoryState) -> None:
        self._state = state

    def write(self, plan: JobPlan) -> None:
        ref = plan.job.ref
        with self._state.lock:
            found = self._state.jobs.setdefault(ref, plan.job)
            if found != plan.job:
                raise Conflict(f"{ref.job_id} exists already")
            for task in plan.tasks:
                self._state.tasks.setdefault(task.ref, task)
            for name, dependents in plan.dependents.items():
                self._state.dependents.setdefault(ref.task(name), dependents)
            for name, payload in plan.payloads.items():
                self._state.payloads.setdefault(ref.task(name), payload)

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


def _is_listed(job: Job, tenant: str) -> bool:
    return job.ref.tenant == tenant and job.state is not JobState.WRITING
