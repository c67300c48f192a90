"""Checks subjects, and publishes their incidents.

A message of the alerts queue only names a subject: it may be late, doubled or out of order. The
subject is read as it is now, so that the order of messages does not matter.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Protocol, TypeVar

from switchyard.contracts.alerting import CheckSubject, NotAWakeUp
from switchyard.domain.alerts.alerts import PublishResult, PublishStatus, subject_in_key
from switchyard.domain.alerts.incidents import Incident, IncidentState
from switchyard.domain.alerts.job_incidents import (
    REDRIVING,
    deleted_job_incident,
    is_success,
    job_incident,
    job_incident_state,
    never_failed,
    phase_of,
    task_incident,
)
from switchyard.domain.alerts.stage_incidents import Alarm, alarm_incident
from switchyard.domain.alerts.subjects import (
    AlarmSubject,
    ApprovalSubject,
    DeadLettersSubject,
    HealthSubject,
    JobSubject,
    Subject,
    TaskSubject,
)
from switchyard.domain.errors import Rejected
from switchyard.domain.ids import JobRef, TaskRef
from switchyard.domain.jobs.job import Job
from switchyard.domain.jobs.notify import NotifyTarget
from switchyard.domain.tasks.task import Task
from switchyard.ports import Clock, JobStore, QueueSender
from switchyard.ports.alerting import Alarms, AlertStore
from switchyard.usecases.alerts.approval_incidents import approval_incident, approval_state
from switchyard.usecases.alerts.post_alerts import AlertPublisher
from switchyard.usecases.alerts.read_dead_letters import DeadLetterReader
from switchyard.usecases.jobs.held_task import HeldTaskReader

CLOCKS_DIFFER_MS: Final = 5_000
"""The most by which the clock of the queue and ours may be apart."""
MAX_REMEMBERED: Final = 1_000
MAX_REPEATS: Final = 2
MAX_DUE_AT_ONCE: Final = 50
"""The most due alerts that a sweep handles; the next sweep finds the rest."""

_State = TypeVar("_State", bound=IncidentState)


class Tasks(Protocol):
    def find(self, ref: TaskRef) -> Task | None: ...


class Escalates(Protocol):
    """Publishes incidents to the channel or webhook that a job names."""

    def needs_update(
        self, notify: NotifyTarget | None, state: IncidentState, *, tenant: str
    ) -> bool: ...

    def escalate(self, notify: NotifyTarget | None, incident: Incident, *, tenant: str) -> None: ...

    def own_channel(self, notify: NotifyTarget | None, *, tenant: str) -> str | None: ...


@dataclass(frozen=True, kw_only=True)
class SubjectChecker:
    """Reads a subject as it is now, and publishes its incident."""

    alerts: AlertPublisher
    escalator: Escalates
    jobs: JobStore
    tasks: Tasks
    held: HeldTaskReader
    dead_letters: DeadLetterReader
    alarms: Alarms
    stage: str

    def check(self, subject: Subject) -> PublishResult:
        """Raise `Unavailable` if the subject has to be checked again."""
        match subject:
            case JobSubject():
                return self._check_job(subject.ref)
            case TaskSubject():
                return self._check_task(subject.ref)
            case DeadLettersSubject():
                return self._check_dead_letters(subject)
            case AlarmSubject():
                return self._check_alarm(subject.name)
            case ApprovalSubject():
                return self._check_approval(subject.ref)
            case HealthSubject():
                raise NotAWakeUp("the health of tasks is checked on a schedule")

    def _check_job(self, ref: JobRef) -> PublishResult:
        """Read the job's tasks only if its incident has to be published: there may be 10,000."""
        job = self.jobs.find(ref)
        if job is None:
            return self.alerts.publish(deleted_job_incident(ref))
        if never_failed(job) and not _wants_success(job):
            return PublishResult(PublishStatus.UNCHANGED, "it has not failed")
        state = self._closed_if_new(job, job_incident_state(job))
        escalates = self.escalator.needs_update(job.notify, state, tenant=ref.tenant)
        if not (self.alerts.needs_update(state) or escalates):
            return PublishResult(PublishStatus.UNCHANGED, "posted already, or postponed")
        picture = self.jobs.picture(ref)
        incident = job_incident(picture.job, picture.visible_tasks, stage=self.stage)
        incident = self._closed_if_new(picture.job, incident)
        result = self.alerts.publish(incident)
        self.escalator.escalate(job.notify, incident, tenant=ref.tenant)
        return result

    def _closed_if_new(self, job: Job, state: _State) -> _State:
        """Begin no incident with a redrive: the job may have been cancelled and not have failed."""
        if phase_of(job) != REDRIVING or self.alerts.is_open(state):
            return state
        return replace(state, open=False)

    def _check_task(self, ref: TaskRef) -> PublishResult:
        task = self.tasks.find(ref)
        if task is None:
            return PublishResult(PublishStatus.UNCHANGED, "there is no such task")
        return self.alerts.publish(task_incident(task))

    def _check_approval(self, ref: TaskRef) -> PublishResult:
        """Read what is decided on only if the alert has to be posted or updated."""
        job = self.jobs.find(ref.job)
        if job is None:
            return PublishResult(PublishStatus.UNCHANGED, "there is no such job")
        try:
            held = self.held.read(ref)
        except Rejected as error:
            return PublishResult(PublishStatus.UNCHANGED, str(error))
        channel = self.escalator.own_channel(job.notify, tenant=ref.tenant)
        state = replace(approval_state(held.task, held.basis), channel=channel)
        if not self.alerts.needs_update(state):
            return PublishResult(PublishStatus.UNCHANGED, "posted already, or postponed")
        view, decision = self.held.view(ref), held.payload.output
        return self.alerts.publish(
            approval_incident(state, ref, view, decision=decision, stage=self.stage)
        )

    def _check_dead_letters(self, subject: DeadLettersSubject) -> PublishResult:
        """Also escalate to the jobs of the dead letters, and to a named job if none is left."""
        incident, by_job = self.dead_letters.read(subject.queue)
        result = self.alerts.publish(incident)
        for ref in by_job.keys() | ({subject.job} if subject.job else set()):
            job = self.jobs.find(ref)
            if job and job.notify:
                of_job = by_job.get(ref) or self.dead_letters.job_incident(subject.queue, ref)
                self.escalator.escalate(job.notify, of_job, tenant=ref.tenant)
        return result

    def _check_alarm(self, name: str) -> PublishResult:
        alarm = self.alarms.find(name) or Alarm(name=name, raised=False, meaning="", reason="")
        return self.alerts.publish(alarm_incident(alarm, stage=self.stage))


def _wants_success(job: Job) -> bool:
    return job.notify is not None and job.notify.successes and is_success(job_incident_state(job))


class Checks(Protocol):
    def check(self, subject: Subject) -> PublishResult: ...


@dataclass(kw_only=True)
class IncidentReporter:
    """Checks a subject once for all messages that were sent before the check."""

    checker: Checks
    clock: Clock
    _checked: dict[Subject, tuple[str, int]] = field(default_factory=dict, init=False)

    def report(self, subject: Subject, *, sent_at_ms: int, batch: str) -> PublishResult | None:
        """Return `None` if the subject was checked since the message was sent.

        All messages of one batch were sent before the first check for that batch.
        """
        began_ms = self.clock.now_ms()
        last_batch, last_ms = self._checked.get(subject, ("", 0))
        if batch == last_batch or sent_at_ms < last_ms - CLOCKS_DIFFER_MS:
            return None
        result = self._check(subject)
        if len(self._checked) >= MAX_REMEMBERED:
            self._checked.clear()
        self._checked[subject] = (batch, began_ms)
        return result

    def _check(self, subject: Subject) -> PublishResult:
        """Repeat the check if an update was requested meanwhile; at last the sweeper does."""
        result = self.checker.check(subject)
        for _ in range(MAX_REPEATS):
            if not result.update_requested:
                break
            result = self.checker.check(subject)
        return result


@dataclass(frozen=True, kw_only=True)
class DueAlerts:
    """Has the subjects of alerts that are due checked again."""

    store: AlertStore
    queue_sender: QueueSender
    queue: str
    """The name of the alerts queue."""
    clock: Clock

    def send_due(self) -> Sequence[str]:
        """Send one message for each subject, and return the texts of the subjects.

        The alert about health is left out: the health check publishes it again by itself.
        """
        due = self.store.due(now_ms=self.clock.now_ms(), limit=MAX_DUE_AT_ONCE)
        subjects = sorted({subject_in_key(key) for key in due} - {str(HealthSubject())})
        for subject in subjects:
            message = CheckSubject(subject=subject)
            self.queue_sender.send(self.queue, message.model_dump_json(by_alias=True), {})
        return subjects
