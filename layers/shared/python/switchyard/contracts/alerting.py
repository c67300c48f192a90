"""Messages of the alerts queue: each names the subject of an incident that has to be checked."""

from collections.abc import Mapping
from typing import Any, Final, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from switchyard.contracts.events import (
    DETAIL_TYPE,
    JobCancelled,
    JobCompleted,
    JobFailed,
    JobFailureDetected,
    TaskCancelled,
    TaskCompleted,
    TaskFailed,
    TaskHeld,
    TaskRedriven,
    TaskTimeout,
)
from switchyard.contracts.parked_messages import PARKED_PREFIXES, QUARANTINE_PREFIX
from switchyard.contracts.wire import Written
from switchyard.domain.alerts.subjects import (
    QUARANTINE,
    AlarmSubject,
    ApprovalSubject,
    DeadLettersSubject,
    JobSubject,
    Subject,
    TaskSubject,
    parse_subject,
)
from switchyard.domain.errors import Rejected
from switchyard.domain.ids import (
    JOB_ID,
    TENANT_ID,
    JobRef,
    bare_task,
    problem_with_bare_id,
    split_request_id,
)
from switchyard.domain.states import TaskKind

JOB_EVENTS: Final = tuple(
    event.event_type
    for event in (JobFailureDetected, JobFailed, JobCompleted, JobCancelled, TaskRedriven)
)
TASK_EVENTS: Final = (TaskFailed.event_type, TaskTimeout.event_type)
"""The events of tasks that belong to no job.

A failed task of a job is reported with its job: the dispatcher follows it, and emits Job Failure
Detected at the first one.
"""
APPROVAL_EVENTS: Final = tuple(
    event.event_type for event in (TaskHeld, TaskCompleted, TaskFailed, TaskCancelled)
)
"""The events between which an approval waits for a person, if `kind` says that it is one."""
OBJECT_EVENTS: Final = ("Object Created", "Object Deleted")
ALARM_EVENT: Final = "CloudWatch Alarm State Change"


class NotAWakeUp(Rejected):
    """The message names no subject that can be checked."""


class CheckSubject(Written):
    """The message that the sweeper sends for an alert that is due."""

    subject: str = Field(min_length=1)


class _Loose(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class _Properties(_Loose):
    job_id: str | None = Field(default=None, alias="jobId")
    request_id: str = Field(default="", alias="requestId")
    kind: str | None = None


class _EventDetail(_Loose):
    tenant_id: str = Field(alias="tenantId", pattern=rf"\A(?:{TENANT_ID.pattern})\z")
    properties: _Properties

    @model_validator(mode="after")
    def _ids_are_whole(self) -> Self:
        job_id, request_id = self.properties.job_id, self.properties.request_id
        if job_id is None:
            problem = problem_with_bare_id(request_id)
        else:
            problem = None if JOB_ID.fullmatch(job_id) else "it names no job of ours"
        if problem:
            raise ValueError(problem)
        return self

    @property
    def subject(self) -> Subject:
        job_id, request_id = self.properties.job_id, self.properties.request_id
        if job_id is None:
            return TaskSubject(bare_task(self.tenant_id, request_id))
        if self.properties.kind == TaskKind.APPROVAL:
            _, task_id = split_request_id(request_id)
            return ApprovalSubject(JobRef(self.tenant_id, job_id).task(task_id))
        return JobSubject(JobRef(self.tenant_id, job_id))


class _Object(_Loose):
    key: str


class _ObjectDetail(_Loose):
    object: _Object

    @property
    def subject(self) -> Subject:
        prefix, _, rest = self.object.key.partition("/")
        if f"{prefix}/" == QUARANTINE_PREFIX:
            return DeadLettersSubject(QUARANTINE)
        if f"{prefix}/" not in PARKED_PREFIXES or "/" not in rest:
            raise NotAWakeUp("the object is not a parked message")
        return DeadLettersSubject(rest.partition("/")[0])


class _AlarmDetail(_Loose):
    name: str = Field(alias="alarmName", min_length=1)

    @property
    def subject(self) -> Subject:
        return AlarmSubject(self.name)


_DETAILS: Final[Mapping[str, type[_EventDetail | _ObjectDetail | _AlarmDetail]]] = {
    DETAIL_TYPE: _EventDetail,
    **dict.fromkeys(OBJECT_EVENTS, _ObjectDetail),
    ALARM_EVENT: _AlarmDetail,
}


class _Envelope(_Loose):
    detail_type: str = Field(alias="detail-type")
    detail: dict[str, Any]


def subject_to_check(body: str) -> Subject:
    """Read a message of the alerts queue. Raise `NotAWakeUp`."""
    try:
        if '"detail-type"' not in body:
            return parse_subject(CheckSubject.model_validate_json(body).subject)
        envelope = _Envelope.model_validate_json(body)
        if envelope.detail_type not in _DETAILS:
            raise NotAWakeUp(f"events of the type {envelope.detail_type!r} are not watched")
        return _DETAILS[envelope.detail_type].model_validate(envelope.detail).subject
    except ValidationError as error:
        raise NotAWakeUp("the message is neither a watched event nor a check request") from error
    except ValueError as error:
        raise NotAWakeUp(str(error)) from error
