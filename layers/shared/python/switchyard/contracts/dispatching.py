"""What the dispatcher is sent directly, beside the events of the bus."""

from typing import Final, Self

from pydantic import Field, PositiveInt, model_validator

from switchyard.contracts.wire import SchemaOne, Written
from switchyard.domain.ids import (
    BARE_PREFIX,
    BARE_TASK,
    JOB_ID,
    TASK_ID,
    TENANT_ID,
    JobRef,
    problem_with_bare_id,
)
from switchyard.domain.tasks.task import TaskRun

SCHEMA_VERSION: Final = 1


class DispatchMessage(Written):
    """Names a run of a task to follow or to start, or without one a job to go on with."""

    schema_version: SchemaOne = Field(default=SCHEMA_VERSION, alias="schema")
    tenant_id: str
    job_id: str
    task_id: str | None = None
    run: PositiveInt | None = None

    @classmethod
    def to(cls, ref: TaskRun | JobRef) -> Self:
        if isinstance(ref, JobRef):
            return cls(tenant_id=ref.tenant, job_id=ref.job_id)
        task = ref.ref
        return cls(tenant_id=task.tenant, job_id=task.job_id, task_id=task.task_id, run=ref.run)

    @model_validator(mode="after")
    def _ids_are_whole(self) -> Self:
        if not TENANT_ID.fullmatch(self.tenant_id):
            raise ValueError(f"{self.tenant_id!r} is not a tenant")
        if not (JOB_ID.fullmatch(self.job_id) or self._names_a_bare_task()):
            raise ValueError(f"{self.job_id!r} is not a job")
        if self.task_id is not None and not TASK_ID.fullmatch(self.task_id):
            raise ValueError(f"{self.task_id!r} is not a task")
        if (self.task_id is None) is not (self.run is None):
            raise ValueError("a task has a run, and a job has none")
        return self

    def _names_a_bare_task(self) -> bool:
        prefix, request_id = self.job_id[:1], self.job_id[1:]
        bare = prefix == BARE_PREFIX and problem_with_bare_id(request_id) is None
        return bare and self.task_id == BARE_TASK

    @property
    def ref(self) -> TaskRun | JobRef:
        job = JobRef(self.tenant_id, self.job_id)
        if self.task_id is None or self.run is None:
            return job
        return TaskRun(job.task(self.task_id), self.run)
