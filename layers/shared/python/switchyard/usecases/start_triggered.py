"""Starts the job of a trigger for an event: at most one, however often the event comes.

What cannot be started is put aside for people: trying again would not help.
"""

from dataclasses import dataclass

from pydantic import ValidationError

from switchyard.contracts.jobs import JobAccepted, SubmitJob, instant
from switchyard.contracts.messages import Delivered
from switchyard.contracts.problems import validation_problems
from switchyard.contracts.triggers import (
    AppliedTrigger,
    TriggerMessage,
    TriggerRun,
    UnreadableMessage,
    parse_trigger_message,
)
from switchyard.domain.errors import InvalidJob, KeyReused, Rejected
from switchyard.domain.job_templates import EVENT, SCHEDULE, NoValue, render
from switchyard.domain.triggers import (
    Ignored,
    is_our_own_file,
    job_told_of,
    path_to,
    submission_key,
    tags_for,
)
from switchyard.ports import Clock, JobStore
from switchyard.ports.triggers import TriggerStore
from switchyard.usecases.quarantine import Quarantine
from switchyard.usecases.submit_job import Submitter


@dataclass(frozen=True, slots=True)
class Started:
    tenant: str
    trigger: str
    event_id: str
    job_id: str


@dataclass(frozen=True, slots=True)
class Dropped:
    """The event starts nothing, and that is right."""

    tenant: str
    trigger: str
    event_id: str
    reason: str


@dataclass(frozen=True, slots=True)
class PutAside:
    """`trigger` is `None` if the message does not even say which."""

    trigger: str | None
    reason: str
    key: str


@dataclass(frozen=True, kw_only=True)
class TriggerStarter:
    triggers: TriggerStore
    jobs: JobStore
    submitter: Submitter
    quarantine: Quarantine
    clock: Clock
    bucket: str
    """Switchyard's own."""

    def start(self, message: Delivered) -> Started | Dropped | PutAside:
        """Raise `Unavailable`: then the message has to come back."""
        try:
            asked = parse_trigger_message(message.body)
        except UnreadableMessage as error:
            return self._put_aside(message, None, str(error))
        applied = self.triggers.find(asked.tenant_id, asked.trigger)
        if applied is None or not applied.enabled:
            return _dropped(asked, "there is no such trigger" if applied is None else "disabled")
        tags = self._tags(applied, asked)
        if isinstance(tags, Ignored):
            return _dropped(asked, tags.reason)
        try:
            accepted = self._submit(applied, asked, tags)
        except KeyReused:  # the trigger was changed in between
            return _dropped(asked, "the event has started a job already")
        except (NoValue, Rejected) as error:
            return self._refuse(message, asked, f"{asked.trigger}: {error}")
        self._note(asked, TriggerRun.of_job(accepted, asked.envelope.id))
        return Started(asked.tenant_id, asked.trigger, asked.envelope.id, accepted.job_id)

    def _tags(self, applied: AppliedTrigger, asked: TriggerMessage) -> dict[str, str] | Ignored:
        if is_our_own_file(asked.event, self.bucket):
            return Ignored("Switchyard wrote this file itself")
        job = None
        if applied.trigger.bus == "switchyard":
            told_of = job_told_of(asked.event, asked.tenant_id)
            job = self.jobs.find(told_of) if told_of else None
        return tags_for(asked.trigger, path_to(job.tags) if job else ())

    def _submit(
        self, applied: AppliedTrigger, asked: TriggerMessage, tags: dict[str, str]
    ) -> JobAccepted:
        event, scheduled = asked.envelope, applied.trigger.schedule is not None
        values = {EVENT: asked.event} | ({SCHEDULE: {"time": event.time}} if scheduled else {})
        request = _valid(render(applied.trigger.job, values))
        key = submission_key(asked.trigger, event.time if scheduled else event.id)
        tagged = request.model_copy(update={"tags": {**request.tags, **tags}})
        return self.submitter.submit(asked.tenant_id, tagged, key=key)

    def _refuse(self, message: Delivered, asked: TriggerMessage, reason: str) -> PutAside:
        put_aside = self._put_aside(message, asked.trigger, reason)
        now = instant(self.clock.now_ms())
        self._note(asked, TriggerRun(at=now, event_id=asked.envelope.id, error=put_aside.reason))
        return put_aside

    def _put_aside(self, message: Delivered, trigger: str | None, reason: str) -> PutAside:
        kept = self.quarantine.keep(message, reason)
        return PutAside(trigger, kept.reason, kept.key)

    def _note(self, asked: TriggerMessage, run: TriggerRun) -> None:
        self.triggers.note_run(asked.tenant_id, asked.trigger, run)


def _dropped(asked: TriggerMessage, reason: str) -> Dropped:
    return Dropped(asked.tenant_id, asked.trigger, asked.envelope.id, reason)


def _valid(job: object) -> SubmitJob:
    try:
        return SubmitJob.model_validate(job)
    except ValidationError as error:
        raise InvalidJob(validation_problems(map(dict, error.errors()))) from error
