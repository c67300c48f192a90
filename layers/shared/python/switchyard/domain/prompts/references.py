"""References to what earlier tasks made: are they right, and what do they stand for?"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter
from typing import Final

from switchyard.domain.errors import Problem
from switchyard.domain.jobs.graph import TaskSpec
from switchyard.domain.prompts.reference_syntax import (
    NotAReference,
    Reference,
    Step,
    parts_of,
    texts_in,
)
from switchyard.domain.tasks.task import Json

MAX_BROUGHT_IN: Final = 10_000_000  # characters: an input may ask for the same output many times

_KINDS: Final = {str: "a text", bool: "true or false", int: "a number", float: "a number"}


class MissingValue(ValueError):
    """A reference stands for nothing, or for too much."""


def reference_problems(
    specs: Sequence[TaskSpec], *, declared: Mapping[str, Sequence[str]] | None = None
) -> list[Problem]:
    """What is wrong with the references of these tasks.

    `declared` has the parents of the tasks that the job has already.
    """
    parents = {**(declared or {}), **{spec.task_id: spec.depends_on for spec in specs}}
    problems: list[Problem] = []
    found: list[tuple[str, Reference]] = []
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
            yield Problem(reference.path, f"{named}, which does not exist")
        elif ancestors and not ancestors[task_id] & bits[reference.task_id]:
            yield Problem(reference.path, f"{named}, on which {task_id!r} does not depend")


def _ancestors(parents: Mapping[str, Sequence[str]], bits: Mapping[str, int]) -> dict[str, int]:
    """Everything a task depends on, as the bits of one number; nothing if there is a cycle."""
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
    """The input with every reference replaced. Raise `MissingValue` or `NotAReference`."""
    return _Resolution(outputs).of(value)


@dataclass
class _Resolution:
    outputs: Mapping[str, Json]
    brought_in: int = 0
    sizes: dict[str, int] = field(default_factory=dict)
    """What was measured once, by the text of its reference."""

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
        value = _found(reference, self.outputs)
        if reference.text not in self.sizes:
            self.sizes[reference.text] = len(as_text(value))
        self.brought_in += self.sizes[reference.text]
        if self.brought_in > MAX_BROUGHT_IN:
            raise MissingValue(
                f"with {reference.text} the input's references bring in more than "
                f"{MAX_BROUGHT_IN:,} characters"
            )
        return value


def as_text(value: Json) -> str:
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _found(reference: Reference, outputs: Mapping[str, Json]) -> Json:
    if reference.task_id not in outputs:
        raise MissingValue(f"{reference.text} has no value: {reference.task_id!r} did not complete")
    value, place = outputs[reference.task_id], "output"
    for step in reference.steps:
        lack = _lack(value, step)
        if lack:
            raise MissingValue(f"{reference.text} has no value: {place} {lack}")
        value, place = value[step], f"{place}{_written(step)}"
    return value


def _lack(value: Json, step: Step) -> str | None:
    """Why there is no such part, without a word of the value itself."""
    match value, step:
        case dict(), str():
            return None if step in value else f"has no member {step!r}"
        case list(), int():
            return None if step < len(value) else f"has {len(value):,} items, no [{step}]"
        case dict(), int():
            return f"is an object, which has no [{step}]"
        case list(), _:
            return f"is a list, which has no member {step!r}"
    return f"is {_KINDS.get(type(value), 'null')}, which has no parts"


def _written(step: Step) -> str:
    return f".{step}" if isinstance(step, str) else f"[{step}]"
