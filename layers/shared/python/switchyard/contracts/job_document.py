"""Documents of a job in the bucket: its submission until all of it is written, and its files."""

from dataclasses import replace
from typing import Annotated, Any, Final, Literal, Self

from pydantic import BeforeValidator, Field, ValidationError

from switchyard.contracts.files import FileContent
from switchyard.contracts.jobs import SubmitJob
from switchyard.contracts.problems import validation_problems
from switchyard.contracts.scheduling import StoredPinned
from switchyard.contracts.wire import Written, refuse_newer, unless_absent
from switchyard.domain.errors import UnreadableDocument
from switchyard.domain.ids import JobRef
from switchyard.domain.jobs.files import JobFile
from switchyard.domain.jobs.plan import JobPlan, plan_job
from switchyard.domain.scheduling.placement import Placing, Wish
from switchyard.domain.scheduling.work_queues import WorkQueue

SCHEMA_VERSION: Final = 1
WITH_CONDITIONS: Final = 2
"""The schema of a job with conditions or held tasks: older versions refuse to write such a job."""

DocumentSchema = Annotated[Literal[1, 2], BeforeValidator(refuse_newer(WITH_CONDITIONS))]


class StoredDocument(Written):
    @classmethod
    def read(cls, content: bytes) -> Self:
        """Raise `UnreadableDocument`."""
        try:
            return cls.model_validate_json(content)
        except ValidationError as error:
            found = error.errors(include_url=False, include_input=False)
            raise UnreadableDocument(validation_problems(found)) from error


class JobDocument(StoredDocument):
    schema_version: DocumentSchema = Field(default=SCHEMA_VERSION, alias="schema")
    created_at: int
    """The job's creation in milliseconds, however much later it is written."""
    pinned: dict[str, StoredPinned]
    """The fixed version of each definition that a task names."""
    trace: str | None = None
    """The `traceparent` that came with the first try."""
    queues: dict[str, WorkQueue] | None = unless_absent()
    """The work queues that tasks are in, as they were when it was submitted."""
    job: SubmitJob

    @classmethod
    def of(cls, job: SubmitJob, **known: Any) -> Self:
        """Return the document of a submission, in the oldest schema that can say it."""
        newer = bool(job.files or job.queue) or any(task.needs_newer for task in job.tasks)
        return cls(schema_version=WITH_CONDITIONS if newer else SCHEMA_VERSION, job=job, **known)

    def plan(self, ref: JobRef) -> JobPlan:
        """The same one each time."""
        plan = plan_job(
            ref,
            name=self.job.name,
            tags=self.job.tags,
            specs=[task.spec() for task in self.job.tasks],
            pinned=self.pinned,
            now_ms=self.created_at,
            trace=self.trace,
            placing=Placing(
                queues=self.queues or {},
                wish=Wish(queue=self.job.queue, priority=self.job.priority),
            ),
        )
        notify = self.job.notify.value() if self.job.notify else None
        files = len(self.job.files) or None
        return replace(plan, job=replace(plan.job, notify=notify, file_count=files))


class StoredFile(Written):
    name: str
    sha256: str
    size: int


class JobFiles(StoredDocument):
    """The files of one job, as they are stored beside it."""

    files: tuple[StoredFile, ...]

    @classmethod
    def of(cls, files: dict[str, FileContent]) -> Self:
        named = sorted(files.items())
        return cls(
            files=tuple(StoredFile(name=name, sha256=f.sha256, size=f.size) for name, f in named)
        )

    def values(self) -> tuple[JobFile, ...]:
        return tuple(JobFile(one.name, one.sha256, one.size) for one in self.files)
