"""What wakes the watchers of incidents. It says which subject to look at, and nothing else."""

from collections.abc import Mapping
from typing import Any, Final, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from switchyard.contracts.events import (
    DETAIL_TYPE,
    JobCancelled,
    JobCompleted,
    JobFailed,
    JobFailureDetected,
    TaskFailed,
    TaskRedriven,
    TaskTimeout,
)
from switchyard.contracts.quarantine import QUARANTINED_BELOW
from switchyard.contracts.undeliverable import KEPT_BELOW
from switchyard.contracts.wire import Written
from switchyard.domain.alerts.alarm_incident import alarm_subject
from switchyard.domain.alerts.job_incident import job_subject
from switchyard.domain.alerts.letters_incident import QUARANTINE, letters_subject
from switchyard.domain.alerts.task_incident import task_subject
from switchyard.domain.errors import Rejected
from switchyard.domain.ids import (
    JOB_ID,
    TENANT_ID,
    JobRef,
    bare_task,
    problem_with_bare_id,
)

JOB_EVENTS: Final = tuple(
    told.event_type
    for told in (JobFailureDetected, JobFailed, JobCompleted, JobCancelled, TaskRedriven)
)
TASK_EVENTS: Final = (TaskFailed.event_type, TaskTimeout.event_type)
"""Of tasks that belong to no job."""
OBJECT_EVENTS: Final = ("Object Created", "Object Deleted")
ALARM_EVENT: Final = "CloudWatch Alarm State Change"
LETTER_PREFIXES: Final = (f"{QUARANTINED_BELOW}/", f"{KEPT_BELOW}/")


class NotAWakeUp(Rejected):
    pass


class LookAgain(Written):
    """Our own, for what was postponed."""

    subject: str = Field(min_length=1)


class _Loose(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class _Properties(_Loose):
    job_id: str | None = Field(default=None, alias="jobId")
    request_id: str = Field(default="", alias="requestId")


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
    def subject(self) -> str:
        said = self.properties
        if said.job_id is None:
            return task_subject(bare_task(self.tenant_id, said.request_id))
        return job_subject(JobRef(self.tenant_id, said.job_id))


class _Object(_Loose):
    key: str


class _ObjectDetail(_Loose):
    object: _Object

    @property
    def subject(self) -> str:
        below, _, rest = self.object.key.partition("/")
        if below == QUARANTINED_BELOW:
            return letters_subject(QUARANTINE)
        if below != KEPT_BELOW or "/" not in rest:
            raise NotAWakeUp("it names no place where letters are kept")
        return letters_subject(rest.partition("/")[0])


class _AlarmDetail(_Loose):
    name: str = Field(alias="alarmName", min_length=1)

    @property
    def subject(self) -> str:
        return alarm_subject(self.name)


_DETAILS: Final[Mapping[str, type[_EventDetail | _ObjectDetail | _AlarmDetail]]] = {
    DETAIL_TYPE: _EventDetail,
    **dict.fromkeys(OBJECT_EVENTS, _ObjectDetail),
    ALARM_EVENT: _AlarmDetail,
}


class _Envelope(_Loose):
    detail_type: str = Field(alias="detail-type")
    detail: dict[str, Any]


def woken_subject(body: str) -> str:
    """The subject to look at. Raise `NotAWakeUp`."""
    try:
        if '"detail-type"' not in body:
            return LookAgain.model_validate_json(body).subject
        envelope = _Envelope.model_validate_json(body)
        if envelope.detail_type not in _DETAILS:
            raise NotAWakeUp(f"nobody watches {envelope.detail_type!r}")
        return _DETAILS[envelope.detail_type].model_validate(envelope.detail).subject
    except ValidationError as error:
        raise NotAWakeUp("it is neither an event that is watched nor a wake-up") from error
