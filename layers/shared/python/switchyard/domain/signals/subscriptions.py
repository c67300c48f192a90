"""Describes the event that ends a signal: as its author writes it, and as it is stored."""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from switchyard.domain.errors import Problem, Rejected
from switchyard.domain.fan_out.templates import INPUT, NamedPart, named_part
from switchyard.domain.ids import TaskRef
from switchyard.domain.jobs.graph import TaskSpec
from switchyard.domain.prompts.references import (
    NotAReference,
    Place,
    Reference,
    UnresolvedReference,
    reference_at,
    references_in,
    resolve,
    texts_in,
    value_of,
)
from switchyard.domain.signals.patterns import detail_matches, detail_problem
from switchyard.domain.tasks.task import Json, Task

EVENT: Final = "event"
MAX_PATTERN_BYTES: Final = 4_096
"""The most bytes of a pattern, as on EventBridge; also once its references are filled in."""
MAX_NAMES: Final = 5
"""The most sources of a pattern, and the most types of events."""
MAX_NAME: Final = 256
CATEGORY: Final = "event_pattern"
"""The category of the failure of a signal whose pattern cannot be filled in."""
_FORMS: Final = "${tasks.ID.output.name} or ${input.name}"


class NotFillable(Rejected):
    """A reference of a pattern has no value, or one that cannot be compared."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EventFilter:
    """The events that end a signal."""

    sources: tuple[str, ...]
    detail_types: tuple[str, ...]
    detail: Mapping[str, Json] | None = None

    @property
    def kinds(self) -> list[tuple[str, str]]:
        """Return each source with each type of events."""
        return [(source, named) for source in self.sources for named in self.detail_types]

    def matches(self, *, source: str, detail_type: str, detail: Json) -> bool:
        named = source in self.sources and detail_type in self.detail_types
        return named and detail_matches(self.detail, detail)

    def stored(self) -> dict[str, Json]:
        """Return what `event_filter` reads, written as its author writes it."""
        said = {"source": [*self.sources], "detail-type": [*self.detail_types]}
        return said | ({"detail": dict(self.detail)} if self.detail is not None else {})


def event_filter(stored: Mapping[str, Any]) -> EventFilter:
    """Read what `EventFilter.stored` returned."""
    return EventFilter(
        sources=tuple(stored["source"]),
        detail_types=tuple(stored["detail-type"]),
        detail=stored.get("detail"),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Subscription:
    """A held signal that an event of the bus may end, in this run of its task."""

    ref: TaskRef
    run: int
    filter: EventFilter
    since_ms: int
    """The time at which the task became ready: no earlier event counts."""
    until_ms: int

    @property
    def name(self) -> str:
        """The same however often the same run of the task is held."""
        return f"{self.ref.job_id}#{self.ref.task_id}#{self.run}"


def digest_of(source: str, detail_type: str) -> str:
    """Return what stands for one kind of event in a key."""
    text = json.dumps([source, detail_type], ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def is_not_held_yet(task: Task | None, run: int) -> bool:
    """Return whether the task is about to be held in this run: its subscription is stored first."""
    return task is not None and task.run == run and not task.state.settled


def pattern_problem(pattern: Mapping[str, Any]) -> str | None:
    """Say what is wrong with a pattern beyond its names, before or after it is filled in."""
    size = len(json.dumps(pattern, ensure_ascii=False).encode("utf-8", "surrogatepass"))
    if size > MAX_PATTERN_BYTES:
        return f"has {size:,} bytes; at most {MAX_PATTERN_BYTES:,} are accepted"
    detail = pattern.get("detail")
    return None if detail is None else detail_problem(detail)


def references_of_events(specs: Sequence[TaskSpec]) -> Iterator[tuple[str, Reference]]:
    """Return the tasks whose outputs the patterns of signals refer to, each with the signal."""
    for index, spec in enumerate(specs):
        for place, part in _parts(spec, index):
            if isinstance(part, Reference):
                yield spec.task_id, Reference(place, part.text, part.task_id, part.steps)


def event_problems_in(specs: Sequence[TaskSpec]) -> list[Problem]:
    """Find references in the patterns of signals that are none, or that have no value."""
    problems: list[Problem] = []
    for index, spec in enumerate(specs):
        if spec.hold is None or spec.hold.event is None:
            continue
        found = [problem for place, problem in _parts(spec, index) if isinstance(problem, Problem)]
        problems += found or _input_problems(spec, index)
    return problems


def _input_problems(spec: TaskSpec, index: int) -> Iterator[Problem]:
    """Fill in what the task's own input says, unless that depends on other tasks."""
    parts = [part for _, part in _parts(spec, index)]
    if any(isinstance(part, Reference) for part in parts) or "${" in json.dumps(spec.input):
        return
    try:
        filled_event(spec.hold.event if spec.hold and spec.hold.event else {}, spec.input, {})
    except NotFillable as problem:
        yield Problem(("tasks", index, EVENT, "detail"), str(problem))


def tasks_in_pattern(event: Mapping[str, Json], given: Json) -> list[str]:
    """Return the tasks whose outputs a pattern needs; `given` is the input. Raise `NotFillable`."""
    try:
        found = [_part(text) for _, text in texts_in(event)]
        of_input = references_in(given) if any(isinstance(p, NamedPart) for p in found) else []
    except NotAReference as problem:
        raise NotFillable(str(problem)) from problem
    references = [part for part in found if isinstance(part, Reference)]
    return sorted({reference.task_id for reference in (*references, *of_input)})


def filled_event(
    event: Mapping[str, Json], given: Json, outputs: Mapping[str, Json]
) -> EventFilter:
    """Return the pattern with values for its references. Raise `NotFillable`.

    `given` is the task's input, which may refer to outputs itself.
    """
    try:
        pattern = _filled(event, given, outputs)
    except (UnresolvedReference, NotAReference) as problem:
        raise NotFillable(str(problem)) from problem
    problem_found = pattern_problem(pattern)
    if problem_found:
        raise NotFillable(f"the filled pattern cannot be used: {problem_found}")
    return event_filter(pattern)


def _filled(value: Json, given: Json, outputs: Mapping[str, Json]) -> Any:
    match value:
        case str() if "${" in value:
            part = _part(value)
            if isinstance(part, Reference):
                return value_of(part, outputs)
            return part.value({INPUT: resolve(given, outputs)})
        case Mapping():
            return {name: _filled(inner, given, outputs) for name, inner in value.items()}
        case list() | tuple():
            return [_filled(inner, given, outputs) for inner in value]
    return value


def _parts(spec: TaskSpec, index: int) -> Iterator[tuple[Place, Reference | NamedPart | Problem]]:
    event = spec.hold.event if spec.hold else None
    for place, text in texts_in(event):
        path = ("tasks", index, EVENT, *place)
        try:
            yield path, _part(text)
        except NotAReference:
            yield path, Problem(path, f"{text[:80]!r} must be exactly one reference, {_FORMS}")


def _part(text: str) -> Reference | NamedPart:
    """Read a text that is a reference as a whole. Raise `NotAReference`."""
    of_input = text.startswith(f"${{{INPUT}")
    part: Reference | NamedPart = named_part(text) if of_input else reference_at(text, 0)
    if part.text != text:
        raise NotAReference(text)
    return part
