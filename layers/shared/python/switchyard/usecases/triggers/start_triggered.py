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
from switchyard.domain.errors import Conflict, InvalidJob, Rejected, Unavailable
from switchyard.domain.jobs.submission_keys import KeyKind
from switchyard.domain.tasks.task import Json
from switchyard.domain.triggers.job_templates import EVENT, SCHEDULE, NoValue, render
from switchyard.domain.triggers.triggers import (
    RESERVED_TAGS,
    Ignored,
    is_our_own_file,
    is_replayed,
    job_told_of,
    own_event_id,
    path_to,
    submission_key,
    tags_for,
)
from switchyard.ports import Clock, JobStore, TriggerStore
from switchyard.usecases.jobs.submit_job import Submitter
from switchyard.usecases.letters.quarantine import Quarantine


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
        except Conflict as error:  # another try was faster: whoever comes back finds its job
            raise Unavailable(f"{asked.trigger}: {error}") from error
        except (NoValue, Rejected) as error:
            return self._refuse(message, asked, f"{asked.trigger}: {error}")
        self._note(asked, TriggerRun.of_job(accepted, asked.envelope.id))
        return Started(asked.tenant_id, asked.trigger, asked.envelope.id, accepted.job_id)

    def _tags(self, applied: AppliedTrigger, asked: TriggerMessage) -> dict[str, str] | Ignored:
        if is_our_own_file(asked.event, self.bucket):
            return Ignored("Switchyard wrote this file itself")
        if is_replayed(asked.event):
            return Ignored("an archive replays the event")
        on, job = applied.trigger.on, None
        if on and on.bus == "switchyard":
            told_of = job_told_of(asked.event, asked.tenant_id)
            job = self.jobs.find(told_of) if told_of else None
        path = path_to(job.tags) if job else ()
        return tags_for(asked.trigger, path, chained=bool(on and on.chained))

    def _submit(
        self, applied: AppliedTrigger, asked: TriggerMessage, tags: dict[str, str]
    ) -> JobAccepted:
        due = {SCHEDULE: {"time": asked.envelope.time}} if applied.trigger.schedule else {}
        request = _valid(_tagged(render(applied.trigger.job, {EVENT: asked.event} | due), tags))
        key = submission_key(asked.trigger, _occasion(applied, asked))
        return self.submitter.submit(asked.tenant_id, request, key=key, kind=KeyKind.TRIGGER)

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


def _occasion(applied: AppliedTrigger, asked: TriggerMessage) -> str:
    """What is the same however often one event is told."""
    if applied.trigger.schedule:
        return asked.envelope.time
    ours = own_event_id(asked.event) if applied.trigger.bus == "switchyard" else None
    return ours or asked.envelope.id


def _tagged(job: Json, tags: dict[str, str]) -> Json:
    """Whatever an event says, our tags are ours."""
    match job:
        case {"tags": dict() as given}:
            theirs = {name: tag for name, tag in given.items() if name not in RESERVED_TAGS}
            return {**job, "tags": theirs | tags}
        case dict() if "tags" not in job:
            return {**job, "tags": tags}
    return job


def _valid(job: object) -> SubmitJob:
    try:
        return SubmitJob.model_validate(job)
    except ValidationError as error:
        raise InvalidJob(validation_problems(map(dict, error.errors()))) from error
