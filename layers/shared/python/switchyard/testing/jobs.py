"""Jobs, in memory."""

from collections.abc import Sequence

from switchyard.domain.errors import Conflict, Rejected, UnknownJob
from switchyard.domain.ids import START, JobRef
from switchyard.domain.jobs import transitions as of_jobs
from switchyard.domain.jobs.job import Job, JobPicture, JobStates, StateOfTask
from switchyard.domain.jobs.plan import JobPlan
from switchyard.domain.jobs.relays import declared_parents
from switchyard.domain.states import JobState
from switchyard.domain.tasks import transitions as of_tasks
from switchyard.domain.transition import TransitionRefused
from switchyard.ports import WRITING_SECONDS, PageOfJobs
from switchyard.testing.state import MemoryState


class MemoryJobIntake:
    def __init__(self, state: MemoryState) -> None:
        self._state = state

    def write(self, plan: JobPlan, *, seconds: float = WRITING_SECONDS) -> None:
        with self._state.lock:
            if self._stored(plan.job).state is JobState.WRITING:
                self.write_part(plan, seconds=seconds)

    def accept(self, job: Job) -> None:
        if self._stored(job).document_key != job.document_key:
            raise Conflict(f"{job.ref.job_id} is being written elsewhere")

    def write_part(self, part: JobPlan, *, seconds: float = WRITING_SECONDS) -> None:  # noqa: ARG002
        ref = part.job.ref
        with self._state.lock:
            for task in part.tasks:
                self._state.tasks.setdefault(task.ref, task)
            for name, dependents in part.dependents.items():
                self._state.dependents.setdefault(ref.task(name), dependents)
            for name, payload in part.payloads.items():
                self._state.payloads.setdefault(ref.task(name), payload)

    def note_written(self, job: Job, written: int) -> Job:
        return _as_it_is(job.ref, self._state.write_job(job.ref, of_jobs.note_written(written)))

    def open(self, plan: JobPlan, *, now_ms: int) -> None:
        with self._state.lock:
            job = self._found(plan.job)
            if job.state is not JobState.WRITING:
                return
            start = of_tasks.settle_start(now_ms=now_ms)
            if isinstance(self._state.write_task(job.ref.task(START), start), TransitionRefused):
                raise Conflict(f"{job.ref.job_id} is not all written")
            self._state.write_job(job.ref, of_jobs.open_job(plan.job, now_ms=now_ms))

    def _stored(self, job: Job) -> Job:
        """Return this very submission's job as it is stored: now, or earlier."""
        with self._state.lock:
            self._state.jobs.setdefault(job.ref, job)
            return self._found(job)

    def _found(self, job: Job) -> Job:
        found = self._state.jobs.get(job.ref)
        if found is None or found.created_at_ms != job.created_at_ms:
            raise Conflict(f"{job.ref.job_id} is not of this submission")
        return found


class MemoryJobStore:
    def __init__(self, state: MemoryState) -> None:
        self._state = state

    def find(self, ref: JobRef) -> Job | None:
        return self._state.jobs.get(ref)

    def find_many(self, refs: Sequence[JobRef]) -> Sequence[Job]:
        return [self._state.jobs[ref] for ref in refs if ref in self._state.jobs]

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

    def states(self, ref: JobRef) -> JobStates:
        picture = self.picture(ref)
        tasks = [
            StateOfTask(t.ref, t.run, t.state, t.attempt, t.child_count, t.items_run, t.kind)
            for t in picture.tasks
        ]
        return JobStates(job=picture.job, tasks=tuple(tasks))

    def page(self, tenant: str, *, limit: int, cursor: str | None) -> PageOfJobs:
        if cursor is not None and "#job-" not in cursor:
            raise Rejected("cursor: not one that a listing returned")
        jobs = [job for job in self._state.jobs.values() if _is_listed(job, tenant)]
        ordered = sorted(jobs, key=lambda job: job.listing_order, reverse=True)
        rest = [job for job in ordered if cursor is None or job.listing_order < cursor]
        page = rest[:limit]
        return PageOfJobs(tuple(page), page[-1].listing_order if len(rest) > limit else None)

    def note_failure(self, job: Job, *, task_id: str, now_ms: int) -> Job:
        failure = of_jobs.note_failure(job, task_id=task_id, now_ms=now_ms)
        return _as_it_is(job.ref, self._state.write_job(job.ref, failure))

    def settle(self, job: Job, state: JobState, *, now_ms: int) -> Job:
        settlement = of_jobs.settle(job, state, now_ms=now_ms)
        return _as_it_is(job.ref, self._state.write_job(job.ref, settlement))

    def _parents(self, ref: JobRef) -> dict[str, tuple[str, ...]]:
        return declared_parents(
            {
                parent.task_id: children
                for parent, children in self._state.dependents.items()
                if parent.job == ref
            }
        )


def _is_listed(job: Job, tenant: str) -> bool:
    return job.ref.tenant == tenant and job.state is not JobState.WRITING


def _as_it_is(ref: JobRef, answer: Job | TransitionRefused[Job]) -> Job:
    job = answer.found if isinstance(answer, TransitionRefused) else answer
    if job is None:
        raise UnknownJob(ref.job_id)
    return job
