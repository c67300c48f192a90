"""References to what earlier tasks made: are they right, and what do they stand for?"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter
from typing import Final

from switchyard.domain.errors import Problem
from switchyard.domain.ids import TASK_ID
from switchyard.domain.jobs.graph import TaskSpec
from switchyard.domain.json_values import kind_of
from switchyard.domain.tasks.task import Json
from switchyard.domain.text import did_you_mean

MAX_LENGTH: Final = 1_000
SHOWN: Final = 120  # characters of what is not a reference

Step = str | int
Place = tuple[Step, ...]

_ESCAPED: Final = "$${"
_BEGINNING: Final = re.compile(r"\$\$\{|\$\{tasks\.")
STEP: Final = re.compile(r'\.[a-zA-Z0-9_-]+|\[[0-9]{1,9}\]|\["(?:[^"\\]|\\.)*"\]')
_REFERENCE: Final = re.compile(rf"\$\{{tasks\.({TASK_ID.pattern})\.output((?:{STEP.pattern})*)\}}")

_OWN: Final = re.compile(rf"\$\{{(output|input)((?:{STEP.pattern})*)\}}")


class NotAReference(ValueError):
    """A text begins like a reference and is none; `shown` is its beginning."""

    def __init__(self, text: str) -> None:
        upto, closed, _ = text.partition("}")
        self.shown = f"{upto}{closed}" if len(upto) < SHOWN else f"{text[:SHOWN]}…"
        super().__init__(
            f"{self.shown} is no reference: one looks like ${{tasks.ID.output.name[0]}}, "
            "and $${ stands for ${ as it is"
        )


@dataclass(frozen=True, slots=True)
class Reference:
    path: Place
    """The place of the reference's text in the input."""
    text: str
    task_id: str
    steps: tuple[Step, ...]
    """The path into the output, one step after the other: names of members and indices."""


def references_in(value: Json) -> list[Reference]:
    """Raise `NotAReference` for what begins like one and is none."""
    return [
        part
        for path, text in texts_in(value)
        for part in parts_of(text, path)
        if isinstance(part, Reference)
    ]


def texts_in(value: Json) -> Iterator[tuple[Place, str]]:
    """Return the texts that may contain a reference, in the order of the document."""
    waiting: list[tuple[Place, Json]] = [((), value)]
    while waiting:
        path, inner = waiting.pop()
        match inner:
            case str():
                yield path, inner
            case dict():
                waiting += _of_interest(path, inner.items())
            case list() | tuple():
                waiting += _of_interest(path, enumerate(inner))


def parts_of(text: str, path: Place = ()) -> list[str | Reference]:
    """Split a text into plain text and references in turn. Raise `NotAReference`."""
    parts: list[str | Reference] = []
    done = 0
    while beginning := _BEGINNING.search(text, done):
        start = beginning.start()
        if beginning[0] == _ESCAPED:
            parts += [text[done:start], "${"]
            done = beginning.end()
            continue
        reference = reference_at(text, start, path)
        parts += [text[done:start], reference]
        done = start + len(reference.text)
    return [part for part in (*parts, text[done:]) if part != ""]


def _of_interest(path: Place, members: Iterable[tuple[Step, Json]]) -> Iterator[tuple[Place, Json]]:
    """The last comes first: they are taken from the end."""
    for step, inner in reversed(list(members)):
        if isinstance(inner, dict | list | tuple) or (isinstance(inner, str) and "${" in inner):
            yield (*path, step), inner


def reference_at(text: str, start: int, path: Place = ()) -> Reference:
    """Read the reference that begins at this place of the text. Raise `NotAReference`."""
    match = _REFERENCE.match(text, start, start + MAX_LENGTH)
    if match is None:
        raise NotAReference(text[start : start + MAX_LENGTH])
    return Reference(path, match[0], match[1], steps_in(match[2], within=match[0]))


def own_reference_at(text: str, start: int) -> Reference:
    """Read a reference to a task's own `output` or `input`. Raise `NotAReference`."""
    match = _OWN.match(text, start, start + MAX_LENGTH)
    if match is None:
        raise NotAReference(text[start : start + MAX_LENGTH])
    return Reference((), match[0], match[1], steps_in(match[2], within=match[0]))


def steps_in(text: str, *, within: str) -> tuple[Step, ...]:
    """Read `.name[0]["other name"]`, which is part of `within`. Raise `NotAReference`."""
    try:
        return tuple(map(_step, STEP.findall(text)))
    except ValueError as error:  # [007], or a quoted name that is no JSON
        raise NotAReference(within) from error


def _step(text: str) -> Step:
    name_or_index: Step = text[1:] if text[0] == "." else json.loads(text)[0]
    return name_or_index


MAX_BROUGHT_IN: Final = 10_000_000  # characters: an input may ask for the same output many times


class UnresolvedReference(ValueError):
    """A reference stands for nothing, or for too much."""


def reference_problems(
    specs: Sequence[TaskSpec],
    *,
    declared: Mapping[str, Sequence[str]] | None = None,
    elsewhere: Iterable[tuple[str, Reference]] = (),
) -> list[Problem]:
    """Return the problems of the references of these tasks.

    `declared` has the parents of the tasks that the job has already, and `elsewhere` are
    references that are not in an input, each with its task.
    """
    parents = {**(declared or {}), **{spec.task_id: spec.depends_on for spec in specs}}
    problems: list[Problem] = []
    found: list[tuple[str, Reference]] = list(elsewhere)
    for index, spec in enumerate(specs):
        for place, text in texts_in(spec.input):
            path = ("tasks", index, "input", *place)
            try:
                parts = parts_of(text, path)
            except NotAReference as error:
                problems.append(Problem(path, str(error)))
            else:
                found += [(spec.task_id, part) for part in parts if isinstance(part, Reference)]
    return problems + (list(_misdirected(found, parents)) if found else [])


def _misdirected(
    found: Sequence[tuple[str, Reference]], parents: Mapping[str, Sequence[str]]
) -> Iterator[Problem]:
    known = dict.fromkeys([*parents, *(name for names in parents.values() for name in names)])
    bits = {task_id: 1 << position for position, task_id in enumerate(known)}
    ancestors = _ancestors(parents, bits)
    for task_id, reference in found:
        named = f"{reference.text} names {reference.task_id!r}"
        if reference.task_id not in known:
            hint = did_you_mean(reference.task_id, known)
            yield Problem(reference.path, f"{named}, which does not exist{hint}")
        elif ancestors and not ancestors[task_id] & bits[reference.task_id]:
            yield Problem(reference.path, f"{named}, on which {task_id!r} does not depend")


def _ancestors(parents: Mapping[str, Sequence[str]], bits: Mapping[str, int]) -> dict[str, int]:
    """Return all ancestors of each task, as the bits of one number; nothing if there is a cycle."""
    try:
        order = list(TopologicalSorter(parents).static_order())
    except CycleError:
        return {}
    ancestors: dict[str, int] = {}
    for task_id in order:
        ancestors[task_id] = 0
        for parent in parents.get(task_id, ()):
            ancestors[task_id] |= bits[parent] | ancestors[parent]
    return ancestors


def resolve(value: Json, outputs: Mapping[str, Json]) -> Json:
    """The input with every reference replaced. Raise `UnresolvedReference` or `NotAReference`."""
    return _Resolution(outputs).of(value)


@dataclass
class _Resolution:
    outputs: Mapping[str, Json]
    brought_in: int = 0
    sizes: dict[str, int] = field(default_factory=dict)
    """The sizes that were measured, by the text of the reference."""

    def of(self, value: Json) -> Json:
        """Inputs are at most `MAX_DEPTH` deep, and what is brought in is not looked at."""
        match value:
            case str() if "${" in value:
                return self._filled(value)
            case dict():
                return {name: self.of(inner) for name, inner in value.items()}
            case list() | tuple():
                return [self.of(inner) for inner in value]
        return value

    def _filled(self, text: str) -> Json:
        parts = parts_of(text)
        match parts:
            case [Reference() as only]:
                return self._value(only)
        return "".join(
            part if isinstance(part, str) else as_text(self._value(part)) for part in parts
        )

    def _value(self, reference: Reference) -> Json:
        value = value_of(reference, self.outputs)
        if reference.text not in self.sizes:
            self.sizes[reference.text] = len(as_text(value))
        self.brought_in += self.sizes[reference.text]
        if self.brought_in > MAX_BROUGHT_IN:
            raise UnresolvedReference(
                f"with {reference.text} the input's references bring in more than "
                f"{MAX_BROUGHT_IN:,} characters"
            )
        return value


def as_text(value: Json) -> str:
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def value_of(reference: Reference, outputs: Mapping[str, Json]) -> Json:
    """Return what the reference stands for. Raise `UnresolvedReference`."""
    if reference.task_id not in outputs:
        raise UnresolvedReference(
            f"{reference.text} has no value: {reference.task_id!r} did not complete"
        )
    return part_of_value(
        outputs[reference.task_id], reference.steps, text=reference.text, place="output"
    )


def part_of_value(value: Json, steps: Sequence[Step], *, text: str, place: str) -> Json:
    """Take one step after the other into a value, which is called `place`, for the reference of
    this text. Raise `UnresolvedReference`."""
    for step in steps:
        lack = _lack(value, step)
        if lack:
            raise UnresolvedReference(f"{text} has no value: {place} {lack}")
        value, place = value[step], f"{place}{_written(step)}"
    return value


def _lack(value: Json, step: Step) -> str | None:
    """Return why there is no such part, without a word of the value itself."""
    match value, step:
        case dict(), str():
            return None if step in value else f"has no member {step!r}"
        case list(), int():
            return None if step < len(value) else f"has {len(value):,} items, no [{step}]"
        case dict(), int():
            return f"is an object, which has no [{step}]"
        case list(), _:
            return f"is a list, which has no member {step!r}"
    return f"is {kind_of(value)}, which has no parts"


def _written(step: Step) -> str:
    return f".{step}" if isinstance(step, str) else f"[{step}]"
