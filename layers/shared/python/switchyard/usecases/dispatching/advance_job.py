"""Goes on with a job that is being written, cancelled or redriven, a piece at a time."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from switchyard.domain.errors import UnknownJob
from switchyard.domain.ids import JobRef
from switchyard.domain.jobs.job import Job
from switchyard.domain.jobs.next_step import NextStep, next_step
from switchyard.ports import DispatchQueue, JobStore


class JobStep(Protocol):
    """Every write of it is conditional: two at once, or one that dies anywhere, do no harm."""

    def go_on(self, job: Job, *, until: float) -> bool:
        """Work until `until` on the monotonic clock; `True` if nothing is left to do."""


@dataclass(frozen=True, kw_only=True)
class JobAdvancer:
    jobs: JobStore
    dispatches: DispatchQueue
    steps: Mapping[NextStep, JobStep]

    def advance(self, ref: JobRef, *, until: float) -> None:
        """Take the one step that the job's state asks for; what is left comes with a new wake-up.

        If that is lost, the job is still due. Raise `UnknownJob`.
        """
        job = self.jobs.find(ref)
        if job is None:
            raise UnknownJob(ref.job_id)
        step = next_step(job)
        if step is not None and not self.steps[step].go_on(job, until=until):
            self.dispatches.send([ref])
