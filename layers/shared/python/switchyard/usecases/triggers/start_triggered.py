"""Starts the job of a trigger for an event: at most one, however often the event comes.

An event that can start no job is parked: no retry would help.
"""

from dataclasses import dataclass

from pydantic import ValidationError

from switchyard.contracts.jobs import JobAccepted, SubmitJob
from switchyard.contracts.messages import Delivered
from switchyard.contracts.problems import validation_problems
from switchyard.contracts.triggers import (
    AppliedTrigger,
    Trigger,
    TriggerMessage,
    TriggerRun,
    UnreadableMessage,
    parse_trigger_message,
)
from switchyard.contracts.wire import instant
from switchyard.domain.errors import Conflict, InvalidJob, Rejected, Unavailable
from switchyard.domain.jobs.submission_keys import KeyKind
from switchyard.domain.tasks.task import Json
from switchyard.domain.triggers.job_templates import EVENT, SCHEDULE, NoValue, render
from switchyard.domain.triggers.time_zones import is_due
from switchyard.domain.triggers.triggers import (
    RESERVED_TAGS,
    Ignored,
    is_of_another,
    is_our_own_file,
    is_replayed,
    job_of_event,
    own_event_id,
    path_to,
    submission_key,
    tags_for,
)
from switchyard.ports import Clock, JobStore, TriggerStore
from switchyard.usecases.dead_letters.park_message import MessageParking
from switchyard.usecases.jobs.submit_job import Submitter


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
class Parked:
    """The event can start no job. `trigger` is `None` if the message names none."""

    trigger: str | None
    reason: str
    key: str


@dataclass(frozen=True, kw_only=True)
class TriggerStarter:
    triggers: TriggerStore
    jobs: JobStore
    submitter: Submitter
    parking: MessageParking
    clock: Clock
    bucket: str
    """The name of Switchyard's own bucket."""

    def start(self, message: Delivered) -> Started | Dropped | Parked:
        """Raise `Unavailable`: then the message has to come back."""
        try:
            asked = parse_trigger_message(message.body)
        except UnreadableMessage as error:
            return self._park(message, None, str(error))
        applied = self.triggers.find(asked.tenant_id, asked.trigger)
        if applied is None or not applied.enabled:
            return _dropped(asked, "there is no such trigger" if applied is None else "disabled")
        tags = self._tags(applied, asked)
        if isinstance(tags, Ignored):
            return _dropped(asked, tags.reason)
        try:
            accepted = self._submit(applied, asked, tags)
        except Conflict as error:  # another try was faster: the next delivery finds its job
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
        if not _is_due(applied.trigger, asked):
            return Ignored(f"it is not the scheduled time in {applied.trigger.time_zone}")
        if applied.trigger.bus == "switchyard" and is_of_another(asked.event, asked.tenant_id):
            return Ignored("the event is of another tenant")
        on, job = applied.trigger.on, None
        if on and on.bus == "switchyard":
            named_job = job_of_event(asked.event, asked.tenant_id)
            job = self.jobs.find(named_job) if named_job else None
        path = path_to(job.tags) if job else ()
        return tags_for(asked.trigger, path, chained=bool(on and on.chained))

    def _submit(
        self, applied: AppliedTrigger, asked: TriggerMessage, tags: dict[str, str]
    ) -> JobAccepted:
        due = {SCHEDULE: {"time": asked.envelope.time}} if applied.trigger.schedule else {}
        request = _valid(_tagged(render(applied.trigger.job, {EVENT: asked.event} | due), tags))
        key = submission_key(asked.trigger, _occasion(applied, asked))
        return self.submitter.submit(asked.tenant_id, request, key=key, kind=KeyKind.TRIGGER)

    def _refuse(self, message: Delivered, asked: TriggerMessage, reason: str) -> Parked:
        parked = self._park(message, asked.trigger, reason)
        now = instant(self.clock.now_ms())
        self._note(asked, TriggerRun(at=now, event_id=asked.envelope.id, error=parked.reason))
        return parked

    def _park(self, message: Delivered, trigger: str | None, reason: str) -> Parked:
        stored = self.parking.park(message, reason)
        return Parked(trigger, stored.reason, stored.key)

    def _note(self, asked: TriggerMessage, run: TriggerRun) -> None:
        self.triggers.note_run(asked.tenant_id, asked.trigger, run)


def _dropped(asked: TriggerMessage, reason: str) -> Dropped:
    return Dropped(asked.tenant_id, asked.trigger, asked.envelope.id, reason)


def _is_due(trigger: Trigger, asked: TriggerMessage) -> bool:
    if trigger.schedule is None or trigger.time_zone is None or asked.by_hand:
        return True
    at = asked.envelope.moment
    return at is not None and is_due(trigger.schedule, trigger.time_zone, at=at)


def _occasion(applied: AppliedTrigger, asked: TriggerMessage) -> str:
    """Return a key that is the same however often one event is delivered."""
    if applied.trigger.schedule:
        return asked.envelope.time
    ours = own_event_id(asked.event) if applied.trigger.bus == "switchyard" else None
    return ours or asked.envelope.id


def _tagged(job: Json, tags: dict[str, str]) -> Json:
    """Return the job with our tags, whatever the event says about them."""
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
