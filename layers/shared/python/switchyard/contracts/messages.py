"""What travels through the queues: wake-ups that name a task, never its data."""

from typing import Any, Final, Literal, Self

from pydantic import Field, ValidationError, model_validator

from switchyard.contracts.wire import Wire
from switchyard.domain.ids import TASK_ID, TENANT_ID, TaskRef, task_named

SCHEMA_VERSION: Final = 1


class TaskMessage(Wire):
    """A wake-up for a worker. That of a bare task names it by its `~…` instead of a job."""

    schema_version: Literal[1] = Field(default=SCHEMA_VERSION, alias="schema")
    tenant_id: str = Field(pattern=TENANT_ID.pattern)
    job_id: str
    task_id: str = Field(pattern=TASK_ID.pattern)
    request_id: str
    run: int = Field(ge=1)

    @classmethod
    def to(cls, ref: TaskRef, *, run: int) -> Self:
        return cls(
            tenant_id=ref.tenant,
            job_id=ref.job_id,
            task_id=ref.task_id,
            request_id=ref.request_id,
            run=run,
        )

    @model_validator(mode="after")
    def _ids_are_whole(self) -> Self:
        if not TENANT_ID.fullmatch(self.tenant_id):
            raise ValueError("tenantId has characters that ids cannot have")
        if task_named(self.tenant_id, self.request_id) != self.ref:
            raise ValueError("requestId does not name this job and task")
        return self

    @property
    def ref(self) -> TaskRef:
        return TaskRef(self.tenant_id, self.job_id, self.task_id)


class Malformed(ValueError):
    """A message that can never be understood, however often it comes."""


def parse_task_message(body: str) -> TaskMessage:
    try:
        return TaskMessage.model_validate_json(body)
    except ValidationError as error:
        first: Any = error.errors()[0]
        place = ".".join(map(str, first["loc"])) or "body"
        raise Malformed(f"{place}: {first['msg']}") from error
