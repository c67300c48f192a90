"""What the dispatcher is sent directly, beside the events of the bus."""

from typing import Final, Literal, Self

from pydantic import Field, model_validator

from switchyard.contracts.wire import Wire
from switchyard.domain.ids import JOB_ID, TASK_ID, TENANT_ID, JobRef, TaskRef

SCHEMA_VERSION: Final = 1


class DispatchMessage(Wire):
    """Names a settled task to follow, or without one a job to go on with."""

    schema_version: Literal[1] = Field(default=SCHEMA_VERSION, alias="schema")
    tenant_id: str
    job_id: str
    task_id: str | None = None

    @classmethod
    def to(cls, ref: TaskRef | JobRef) -> Self:
        task_id = ref.task_id if isinstance(ref, TaskRef) else None
        return cls(tenant_id=ref.tenant, job_id=ref.job_id, task_id=task_id)

    @model_validator(mode="after")
    def _ids_are_whole(self) -> Self:
        if not TENANT_ID.fullmatch(self.tenant_id):
            raise ValueError(f"{self.tenant_id!r} is not a tenant")
        if not JOB_ID.fullmatch(self.job_id):
            raise ValueError(f"{self.job_id!r} is not a job")
        if self.task_id is not None and not TASK_ID.fullmatch(self.task_id):
            raise ValueError(f"{self.task_id!r} is not a task")
        return self

    @property
    def ref(self) -> TaskRef | JobRef:
        job = JobRef(self.tenant_id, self.job_id)
        return job if self.task_id is None else job.task(self.task_id)
