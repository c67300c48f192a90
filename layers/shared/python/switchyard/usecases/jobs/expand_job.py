"""Writes a job of more than 1,000 tasks from its document, some items at a time, and opens it.

Smaller ones are written by the request that submits them (`submit_job.py`).
"""

from dataclasses import dataclass
from typing import Final

from switchyard.contracts.job_document import JobDocument
from switchyard.domain.errors import Unavailable
from switchyard.domain.jobs.job import Job
from switchyard.domain.jobs.plan import JobPlan, items_in, part_of
from switchyard.domain.prompts.artifacts import document_key
from switchyard.domain.states import JobState
from switchyard.ports import BlobStore, Clock, JobIntake
from switchyard.usecases.events import job_events
from switchyard.usecases.events.emitting import Emitter

ITEMS_AT_ONCE: Final = 500  # about what a partition takes in a second or two: few are lost
LEAST_SECONDS: Final = 2.0  # for the first part, even if a wake-up comes with no time left


@dataclass(frozen=True, kw_only=True)
class Expander:
    """A step of a job that is WRITING. Nothing of it can run before all of it is written.

    A document that is missing or cannot be read is raised as `Rejected`, and the job stays as it
    is: its wake-up ends among the dead letters, which are reported, and once the document
    or the code that reads it is mended the sweeper's next wake-up goes on. A job that was
    settled instead would be lost over what a deployment can repair.
    """

    intake: JobIntake
    blobs: BlobStore
    emitter: Emitter
    clock: Clock

    def go_on(self, job: Job, *, until: float) -> bool:
        """Write at least one part each time: return `False` when there are more. Raise
        `Unavailable` if no part was written; if some were, a further wake-up goes on."""
        plan = self._plan(job)
        before = job.written
        while job.state is JobState.WRITING and job.written < items_in(plan):
            try:
                job = self._write_part(job, plan, until)
            except Unavailable:
                if job.written == before:
                    raise
                return False
            if job.written < items_in(plan) and self.clock.monotonic() >= until:
                return False
        self.intake.open(plan, now_ms=self.clock.now_ms())
        self.emitter.emit(job_events.created(plan.job, plan.visible_tasks, plan.payloads))
        return True

    def _plan(self, job: Job) -> JobPlan:
        key = job.document_key or document_key(job.ref.tenant, job.ref.job_id)
        return JobDocument.read(self.blobs.get(key)).plan(job.ref)

    def _write_part(self, job: Job, plan: JobPlan, until: float) -> Job:
        """The job as it is then: another may have come further, or have opened it."""
        part = part_of(plan, first=job.written, at_most=ITEMS_AT_ONCE)
        seconds = max(LEAST_SECONDS, until - self.clock.monotonic())
        self.intake.write_part(part, seconds=seconds)
        written = min(job.written + ITEMS_AT_ONCE, items_in(plan))
        return self.intake.note_written(job, written)
