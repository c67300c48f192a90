"""Checks a trigger for everything that can be wrong before there is an event."""

from typing import Final

from pydantic import ValidationError

from switchyard.contracts.jobs import SubmitJob
from switchyard.contracts.problems import validation_problems
from switchyard.contracts.triggers import MAX_TEMPLATE_TAGS, Trigger
from switchyard.domain.errors import Problem
from switchyard.domain.jobs.graph import problems_in
from switchyard.domain.prompts.references import reference_problems
from switchyard.domain.tasks.task import Json
from switchyard.domain.triggers.job_templates import (
    EVENT,
    SCHEDULE,
    has_placeholder_at,
    template_problems,
    with_stand_ins,
)
from switchyard.domain.triggers.time_zones import next_start_ms
from switchyard.domain.triggers.triggers import (
    PATH_TAG,
    TRIGGER_TAG,
    pattern_problems,
    reserved_tags,
)

MAX_TRIGGER_BYTES: Final = 200_000  # an item takes 400 KB


def trigger_problems(trigger: Trigger) -> list[Problem]:
    pattern = pattern_problems(trigger.on.pattern) if trigger.on else []
    roots = frozenset({EVENT} if trigger.on else {EVENT, SCHEDULE})
    job = [
        *_size_problems(trigger),
        *template_problems(trigger.job, roots=roots),
        *_tag_problems(trigger.job.get("tags")),
    ]
    return [*_below(("on", "pattern"), pattern), *_below(("job",), job or _job_problems(trigger))]


def never_fires(trigger: Trigger, *, now_ms: int) -> list[Problem]:
    """Return a problem if the schedule has no time that is still to come."""
    schedule, zone = trigger.schedule, trigger.time_zone
    if schedule is None:
        return []
    if next_start_ms(schedule, zone, after_ms=now_ms, since_ms=now_ms) is not None:
        return []
    return [Problem(("schedule",), f"{schedule} never fires from now on")]


def _below(place: tuple[str, ...], problems: list[Problem]) -> list[Problem]:
    return [Problem((*place, *problem.path), problem.message) for problem in problems]


def _size_problems(trigger: Trigger) -> list[Problem]:
    size = len(trigger.model_dump_json().encode())
    if size <= MAX_TRIGGER_BYTES:
        return []
    return [Problem((), f"the trigger has {size:,} bytes; the most is {MAX_TRIGGER_BYTES:,}")]


def _tag_problems(tags: Json) -> list[Problem]:
    if not isinstance(tags, dict):
        return []
    problems = reserved_tags(tags)
    if len(tags) > MAX_TEMPLATE_TAGS:
        message = f"at most {MAX_TEMPLATE_TAGS}, as {TRIGGER_TAG} and {PATH_TAG} are added"
        problems.append(Problem(("tags",), message))
    return problems


def _job_problems(trigger: Trigger) -> list[Problem]:
    """Return the problems of the job, as far as it is the same for every event."""
    try:
        job = SubmitJob.model_validate(with_stand_ins(trigger.job))
    except ValidationError as error:
        found = validation_problems(map(dict, error.errors()))
        return [p for p in found if not has_placeholder_at(trigger.job, p.path)]
    specs = [task.spec() for task in job.tasks]
    return [*problems_in(specs), *reference_problems(specs)]
