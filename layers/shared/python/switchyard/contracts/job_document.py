"""A submission as it is stored until all of its job is written."""

from dataclasses import replace
from typing import Annotated, Any, Final, Literal, Self

from pydantic import BeforeValidator, Field

from switchyard.contracts.jobs import SubmitJob
from switchyard.contracts.stored_documents import StoredDocument
from switchyard.contracts.wire import refuse_newer
from switchyard.domain.ids import JobRef
from switchyard.domain.jobs.plan import JobPlan, Pinned, plan_job

SCHEMA_VERSION: Final = 1
WITH_CONDITIONS: Final = 2
"""The schema of a job with conditions or held tasks: older versions refuse to write such a job."""

DocumentSchema = Annotated[Literal[1, 2], BeforeValidator(refuse_newer(WITH_CONDITIONS))]


class JobDocument(StoredDocument):
    schema_version: DocumentSchema = Field(default=SCHEMA_VERSION, alias="schema")
    created_at: int
    """In milliseconds: the job's, however much later it is written."""
    pinned: dict[str, Pinned]
    """Of each definition that a task names."""
    trace: str | None = None
    """The `traceparent` that came with the first try."""
    job: SubmitJob

    @classmethod
    def of(cls, job: SubmitJob, **known: Any) -> Self:
        """Return the document of a submission, in the oldest schema that can say it."""
        newer = bool(job.files) or any(task.needs_newer for task in job.tasks)
        return cls(schema_version=WITH_CONDITIONS if newer else SCHEMA_VERSION, job=job, **known)

    def plan(self, ref: JobRef) -> JobPlan:
        """The same one each time."""
        plan = plan_job(
            ref,
            name=self.job.name,
            tags=self.job.tags,
            notify=self.job.notify.value() if self.job.notify else None,
            specs=[task.spec() for task in self.job.tasks],
            pinned=self.pinned,
            now_ms=self.created_at,
            trace=self.trace,
        )
        return replace(plan, job=replace(plan.job, file_count=len(self.job.files)))
