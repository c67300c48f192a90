"""The subjects of incidents: what an incident is about, and how that is written down.

The text of a subject is part of stored alerts, of messages in the alerts queue and of the metadata
of posted messages. It does not change.
"""

from dataclasses import dataclass
from typing import Final

from switchyard.domain.ids import JobRef, TaskRef, bare_task

QUARANTINE: Final = "quarantine"
"""Stands for all messages that version 0.1.0 parked in one folder, whichever their queue was."""
_HEALTH: Final = "health"
_JOB: Final = "job/"
_TASK: Final = "task/"
_DEAD_LETTERS: Final = "letters/"
_ALARM: Final = "alarm/"
_APPROVAL: Final = "approval/"


@dataclass(frozen=True, slots=True)
class HealthSubject:
    """The health of all running tasks of the stage."""

    @property
    def job(self) -> None:
        return None

    def __str__(self) -> str:
        return _HEALTH


@dataclass(frozen=True, slots=True)
class JobSubject:
    """A job."""

    ref: JobRef

    @property
    def job(self) -> JobRef:
        return self.ref

    def __str__(self) -> str:
        return f"{_JOB}{_job_text(self.ref)}"


@dataclass(frozen=True, slots=True)
class TaskSubject:
    """A task that belongs to no job."""

    ref: TaskRef

    @property
    def job(self) -> None:
        return None

    def __str__(self) -> str:
        return f"{_TASK}{self.ref.tenant}/{self.ref.request_id}"


@dataclass(frozen=True, slots=True)
class DeadLettersSubject:
    """The parked messages of one queue, or those of them that belong to one job."""

    queue: str
    """A queue's name, or `QUARANTINE`."""
    job: JobRef | None = None

    def __str__(self) -> str:
        of_job = f"/{_job_text(self.job)}" if self.job else ""
        return f"{_DEAD_LETTERS}{self.queue}{of_job}"


@dataclass(frozen=True, slots=True)
class AlarmSubject:
    """A CloudWatch alarm."""

    name: str

    @property
    def job(self) -> None:
        return None

    def __str__(self) -> str:
        return f"{_ALARM}{self.name}"


@dataclass(frozen=True, slots=True)
class ApprovalSubject:
    """An approval of a job, which a person decides."""

    ref: TaskRef

    @property
    def job(self) -> JobRef:
        return self.ref.job

    def __str__(self) -> str:
        return f"{_APPROVAL}{_job_text(self.ref.job)}/{self.ref.task_id}"


Subject = (
    HealthSubject | JobSubject | TaskSubject | DeadLettersSubject | AlarmSubject | ApprovalSubject
)
"""`str(subject)` is the text that is stored, and `parse_subject` reads it."""


def parse_subject(text: str) -> Subject:
    """Raise `ValueError` for a text that no subject is written as."""
    if text == _HEALTH:
        return HealthSubject()
    if text.startswith(_JOB):
        return JobSubject(_job_in(text.removeprefix(_JOB)))
    if text.startswith(_TASK):
        tenant, _, request_id = text.removeprefix(_TASK).partition("/")
        return TaskSubject(bare_task(tenant, request_id))
    if text.startswith(_DEAD_LETTERS):
        queue, _, job = text.removeprefix(_DEAD_LETTERS).partition("/")
        return DeadLettersSubject(queue, _job_in(job) if job else None)
    if text.startswith(_ALARM):
        return AlarmSubject(text.removeprefix(_ALARM))
    if text.startswith(_APPROVAL):
        job, _, task_id = text.removeprefix(_APPROVAL).rpartition("/")
        return ApprovalSubject(_job_in(job).task(task_id))
    raise ValueError(f"{text!r} is not the subject of an incident")


def _job_text(ref: JobRef) -> str:
    return f"{ref.tenant}/{ref.job_id}"


def _job_in(text: str) -> JobRef:
    tenant, _, job_id = text.partition("/")
    return JobRef(tenant, job_id)
