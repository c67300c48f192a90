"""Looks at a subject as it is now, and has it told.

Whatever woke the watcher says only where to look: it may be late, doubled or out of order.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from switchyard.contracts.alerting import NotAWakeUp
from switchyard.domain.alerts.alarm_incident import SUBJECT_PREFIX as ALARM
from switchyard.domain.alerts.alarm_incident import Alarm, alarm_incident
from switchyard.domain.alerts.incidents import Incident
from switchyard.domain.alerts.job_incident import (
    REDRIVING,
    job_gone,
    job_incident,
    never_failed,
    phase_of,
)
from switchyard.domain.alerts.job_incident import SUBJECT_PREFIX as JOB
from switchyard.domain.alerts.letters_incident import SUBJECT_PREFIX as LETTERS
from switchyard.domain.alerts.task_incident import SUBJECT_PREFIX as TASK
from switchyard.domain.alerts.task_incident import task_in, task_incident
from switchyard.domain.ids import JobRef, TaskRef
from switchyard.domain.jobs.job import Job
from switchyard.domain.jobs.notify import Notify
from switchyard.domain.tasks.task import Task
from switchyard.ports import JobStore
from switchyard.ports.alerting import Alarms
from switchyard.usecases.alerts.tell_alone import Telling, Told
from switchyard.usecases.alerts.tell_incident import Teller
from switchyard.usecases.alerts.watch_letters import LettersWatch


class Tasks(Protocol):
    def find(self, ref: TaskRef) -> Task | None: ...


class Escalates(Protocol):
    """Tells those whom a job names."""

    def has_news(self, notify: Notify | None, incident: Incident, *, tenant: str) -> bool: ...

    def escalate(self, notify: Notify | None, incident: Incident, *, tenant: str) -> None: ...


@dataclass(frozen=True, kw_only=True)
class SubjectWatch:
    teller: Teller
    escalator: Escalates
    jobs: JobStore
    tasks: Tasks
    letters: LettersWatch
    alarms: Alarms
    stage: str

    def look_at(self, subject: str) -> Told:
        """Raise `Unavailable`: then it has to be looked at again."""
        if subject.startswith(JOB):
            return self._job(_ref(subject.removeprefix(JOB)))
        if subject.startswith(TASK):
            return self._task(subject)
        if subject.startswith(LETTERS):
            place, _, job = subject.removeprefix(LETTERS).partition("/")
            return self._letters(place, _ref(job) if job else None)
        if subject.startswith(ALARM):
            return self._alarm(subject.removeprefix(ALARM))
        raise NotAWakeUp(f"nobody watches {subject!r}")

    def _job(self, ref: JobRef) -> Told:
        """Its tasks are read only if there is something to tell: there may be ten thousand."""
        job = self.jobs.find(ref)
        if job is None:
            return self.teller.tell(job_gone(ref))
        if never_failed(job):
            return Told(Telling.UNCHANGED, "it has not failed")
        bare = self._as_told(job, ())
        theirs = self.escalator.has_news(job.notify, bare, tenant=ref.tenant)
        if not (self.teller.has_news(bare) or theirs):
            return Told(Telling.UNCHANGED, "told already, or to be told later")
        picture = self.jobs.picture(job.ref)
        incident = self._as_told(picture.job, picture.visible_tasks)
        told = self.teller.tell(incident)
        self.escalator.escalate(job.notify, incident, tenant=ref.tenant)
        return told

    def _as_told(self, job: Job, tasks: Sequence[Task]) -> Incident:
        """A redrive begins no incident: it may be of a job that somebody had cancelled."""
        incident = job_incident(job, tasks, stage=self.stage)
        if phase_of(job) != REDRIVING or self.teller.is_open(incident):
            return incident
        return replace(incident, open=False)

    def _task(self, subject: str) -> Told:
        task = self.tasks.find(_bare(subject))
        if task is None:
            return Told(Telling.UNCHANGED, "there is no such task")
        return self.teller.tell(task_incident(task))

    def _letters(self, place: str, of_job: JobRef | None) -> Told:
        """Of a job that is named, even if none of its letters is left."""
        incident, by_job = self.letters.look(place)
        told = self.teller.tell(incident)
        for ref in by_job.keys() | ({of_job} if of_job else set()):
            job = self.jobs.find(ref)
            if job and job.notify:
                theirs = by_job.get(ref) or self.letters.none_of(place, ref)
                self.escalator.escalate(job.notify, theirs, tenant=ref.tenant)
        return told

    def _alarm(self, name: str) -> Told:
        alarm = self.alarms.find(name) or Alarm(name=name, raised=False, meaning="", reason="")
        return self.teller.tell(alarm_incident(alarm, stage=self.stage))


def _bare(subject: str) -> TaskRef:
    try:
        return task_in(subject)
    except ValueError as error:
        raise NotAWakeUp(str(error)) from error


def _ref(name: str) -> JobRef:
    tenant, _, job_id = name.partition("/")
    return JobRef(tenant, job_id)
