"""Triggers: their names, and which events start nothing."""

import hashlib
from collections.abc import Container, Mapping
from dataclasses import dataclass
from typing import Final

from switchyard.domain.errors import Problem, Rejected
from switchyard.domain.ids import EVENT_ID, JOB_ID, JobRef, task_named
from switchyard.domain.tasks.task import Json, Tags

TRIGGER_TAG: Final = "trigger"
"""The tag of every job that a trigger starts: the trigger's name."""
PATH_TAG: Final = "trigger-path"
"""The tag of a job started for another job's event: the triggers that led to it, in order."""
RESERVED_TAGS: Final = (TRIGGER_TAG, PATH_TAG)
MAX_CHAIN: Final = 3
"""Triggers in a row: with `n` chained ones, a job leads to no more than n + n² + n³ others."""

MAX_RULE_NAME: Final = 64  # EventBridge's limit
OUR_KEYS: Final = ("task/", "events/", "parked/", "quarantine/", "undeliverable/")
"""The prefixes of the bucket below which Switchyard itself writes."""

Event = Mapping[str, Json]


class UnknownTrigger(Rejected):
    def __init__(self, tenant: str, name: str) -> None:
        super().__init__(f"the tenant {tenant} has no trigger {name!r}")
        self.name = name


class RuleRefused(Rejected):
    """EventBridge does not take the pattern or the schedule, or the job would be refused."""


@dataclass(frozen=True, slots=True)
class Ignored:
    """An event that starts nothing, and why."""

    reason: str


def rule_name(stage: str, tenant: str, name: str) -> str:
    """Return the name of a trigger's rule; it is unique, since tenants and names have no dots."""
    whole = f"{rule_prefix(stage)}{tenant}.{name}"
    if len(whole) <= MAX_RULE_NAME:
        return whole
    digest = hashlib.sha256(whole.encode()).hexdigest()[:10]
    return f"{whole[: MAX_RULE_NAME - 11]}_{digest}"


def rule_prefix(stage: str) -> str:
    return f"switchyard-{stage}-"


def submission_key(name: str, occasion: str) -> str:
    """Return the key by which a trigger starts one job per event, however often the event comes."""
    return f"{name}/{occasion}"


def own_event_id(event: Event) -> str | None:
    """Return the id of an event of our bus, which may deliver it again in another envelope."""
    match event.get("detail"):
        case {"eventId": str() as given} if EVENT_ID.fullmatch(given):
            return given
    return None


def is_replayed(event: Event) -> bool:
    """Return whether an archive replays the event: it may have started a job before."""
    return "replay-name" in event


def reserved_tags(tags: Container[str]) -> list[Problem]:
    return [Problem(("tags", name), "is a tag of ours") for name in RESERVED_TAGS if name in tags]


def job_of_event(event: Event, tenant: str) -> JobRef | None:
    """The tenant's job that an event of our bus is about, if it is about one."""
    detail = event.get("detail")
    if not isinstance(detail, Mapping) or detail.get("tenantId") != tenant:
        return None
    entity = str(detail.get("entityId"))
    if JOB_ID.fullmatch(entity):
        return JobRef(tenant, entity)
    try:
        task = task_named(tenant, entity)
    except ValueError:
        return None
    return None if task.bare else task.job


def is_of_another(event: Event, tenant: str) -> bool:
    """Whether an event of our bus names another tenant, whatever the rule's pattern has let in."""
    detail = event.get("detail")
    return isinstance(detail, Mapping) and detail.get("tenantId", tenant) != tenant


def is_our_own_file(event: Event, bucket: str) -> bool:
    """Return whether S3 reports an object of Switchyard: a job for it would write even more."""
    detail = event.get("detail")
    match detail:
        case {"bucket": {"name": str() as name}, "object": {"key": str() as key}}:
            return event.get("source") == "aws.s3" and name == bucket and key.startswith(OUR_KEYS)
    return False


def path_to(tags: Tags) -> tuple[str, ...]:
    """The triggers that led to a job, by its tags; the last one started it."""
    started_by = tags.get(TRIGGER_TAG)
    before = tags.get(PATH_TAG, "").split()
    return (*before, started_by) if started_by else ()


def tags_for(name: str, path: tuple[str, ...], *, chained: bool) -> dict[str, str] | Ignored:
    """Return the tags of a job that this trigger starts for an event of a job with that path.

    No trigger is twice in a path, so a job never leads to itself, be it through others.
    """
    joined = " ".join(path)
    if path and not chained:
        return Ignored(f"the event is of a job that a trigger started ({joined}): not `chained`")
    if name in path:
        return Ignored(f"the event is of a job that this trigger led to ({joined})")
    if len(path) >= MAX_CHAIN:
        return Ignored(f"the event is of a job that too many triggers led to ({joined})")
    return {TRIGGER_TAG: name} | ({PATH_TAG: joined} if joined else {})


def pattern_problems(pattern: Json) -> list[Problem]:
    """Return the problems that EventBridge would find in any pattern; it finds the rest itself."""
    match pattern:
        case {"detail": detail} if not isinstance(detail, Mapping):
            return [Problem(("detail",), "must be an object: every event's detail is one")]
    return _object_problems(pattern)


def _object_problems(pattern: Json) -> list[Problem]:
    if not isinstance(pattern, Mapping):
        return [Problem((), "must be an object")]
    if not pattern:
        return [Problem((), "would match every event; say which, for example by source")]
    return [
        Problem((name, *problem.path), problem.message)
        for name, inner in pattern.items()
        for problem in _leaf_problems(inner)
    ]


def _leaf_problems(inner: Json) -> list[Problem]:
    match inner:
        case Mapping():
            return _object_problems(inner)
        case [_, *_]:
            return []
        case []:
            return [Problem((), "must not be an empty list: it would match nothing")]
    return [Problem((), f"must be a list of what matches, such as [{inner!r:.40}]")]


def of_this_tenant(pattern: Mapping[str, Json], tenant: str) -> dict[str, Json] | Problem:
    """The pattern for our bus, which carries every tenant's events."""
    detail = pattern.get("detail", {})
    if not isinstance(detail, Mapping):
        return Problem(("detail",), "must be an object: every event's detail is one")
    asked = detail.get("tenantId", [tenant])
    if asked != [tenant]:
        return Problem(("detail", "tenantId"), f"can only be [{tenant}], whose trigger it is")
    return {**pattern, "detail": {**detail, "tenantId": [tenant]}}
