"""Compare references to outputs with the output schemas of the tasks that they name."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final

from switchyard.domain.errors import Problem
from switchyard.domain.fan_out.requests import references_of_lists
from switchyard.domain.jobs.condition_parser import references_of_conditions
from switchyard.domain.jobs.graph import TaskSpec
from switchyard.domain.prompts.references import NotAReference, Place, Reference, references_in
from switchyard.domain.tasks.task import Json
from switchyard.domain.text import did_you_mean

MOST_FOUND: Final = 100
MOST_COMPARED: Final = 200
"""The most members of a schema among which a misspelt name is looked for."""
_ELSEWHERE: Final = frozenset(
    {"$ref", "$dynamicRef", "allOf", "anyOf", "oneOf", "if", "patternProperties"}
)
"""Keywords that may allow what the others do not mention."""
_KINDS: Final = {
    "object": "an object",
    "string": "a text",
    "integer": "a number",
    "number": "a number",
    "boolean": "true or false",
    "null": "null",
}


@dataclass(frozen=True, slots=True)
class Doubt:
    """A reference to what the schema does not name, or to no list where one is needed."""

    problem: Problem
    certain: bool
    """Whether the schema forbids it, so that the task fails whenever it runs."""


def doubtful_references(
    specs: Mapping[int, TaskSpec], schemas: Mapping[str, Json]
) -> Iterator[Doubt]:
    """Yield what is doubtful about the references of tasks, which have their positions.

    `schemas` has the output schemas by the names of definitions. A reference in a condition is
    never certain to fail: the condition may ask whether there is a value.
    """
    yield from _certain_or_not(specs, schemas)
    outputs = _outputs(specs.values(), schemas)
    places = list(specs)
    for _, reference in references_of_conditions(list(specs.values()) if outputs else ()):
        walk = _Walk(_moved(reference.path, places), reference)
        for doubt in walk.doubts(outputs.get(reference.task_id)):
            yield Doubt(doubt.problem, certain=False)


def impossible_references(specs: Sequence[TaskSpec], schemas: Mapping[str, Json]) -> list[Problem]:
    """Find references that fail whenever their task runs: the first hundred."""
    doubts = _certain_or_not(dict(enumerate(specs)), schemas, only_certain=True)
    return [doubt.problem for doubt in islice(doubts, MOST_FOUND)]


def _certain_or_not(
    specs: Mapping[int, TaskSpec], schemas: Mapping[str, Json], *, only_certain: bool = False
) -> Iterator[Doubt]:
    outputs = _outputs(specs.values(), schemas)
    if not outputs:
        return
    for index, spec in specs.items():
        for reference in _in_input(spec):
            schema = outputs.get(reference.task_id)
            place = ("tasks", index, "input", *reference.path)
            yield from _Walk(place, reference, only_certain=only_certain).doubts(schema)
    places = list(specs)
    for _, reference in references_of_lists(list(specs.values())):
        place = _moved(reference.path, places)
        walk = _Walk(place, reference, is_list=True, only_certain=only_certain)
        yield from walk.doubts(outputs.get(reference.task_id))


def _outputs(specs: Iterable[TaskSpec], schemas: Mapping[str, Json]) -> dict[str, Json]:
    """Return the schema of each task's output: that of a fan-out is a list of its items'."""
    found: dict[str, Json] = {}
    for spec in specs:
        schema = schemas.get(spec.name)
        if schema is None:
            continue
        for _ in spec.fan_out.for_each if spec.fan_out else ():
            schema = {"type": "array", "items": schema}
        found[spec.task_id] = schema
    return found


def _in_input(spec: TaskSpec) -> list[Reference]:
    try:
        return references_in(spec.input)
    except NotAReference:  # which is reported for itself
        return []


def _moved(path: Place, places: Sequence[int]) -> Place:
    """Return the place in the file for one among the tasks that could be read."""
    tasks, index, *rest = path
    return (tasks, places[int(index)], *rest)


@dataclass(frozen=True, slots=True)
class _Walk:
    place: Place
    reference: Reference
    is_list: bool = False
    only_certain: bool = False

    def doubts(self, schema: Json) -> Iterator[Doubt]:
        """Take one step after the other into the schema, as far as it says what there is."""
        for step in self.reference.steps:
            if not _is_plain(schema):
                return
            if isinstance(step, int):
                schema = None if "prefixItems" in schema else schema.get("items")
                continue
            named = schema.get("properties")
            if not isinstance(named, dict):
                if schema.get("type") == "array":
                    yield self._doubt(f"makes it a list, which has no {step!r}", certain=True)
                return
            if step not in named:
                yield from self._not_named(step, named, schema.get("additionalProperties", True))
                return
            schema = named[step]
        if self.is_list and _is_plain(schema):
            yield from self._no_list(schema)

    def _not_named(self, step: str, named: Mapping[str, Json], others: Json) -> Iterator[Doubt]:
        if isinstance(others, dict) or (self.only_certain and others is not False):
            return
        hint = did_you_mean(step, islice(named, MOST_COMPARED))
        yield self._doubt(f"names no {step!r}{hint}", certain=others is False)

    def _no_list(self, schema: Mapping[str, Json]) -> Iterator[Doubt]:
        kind = _KINDS.get(str(schema.get("type")))
        if kind is None:
            return
        members = schema.get("properties")
        lists = [
            name
            for name, one in (members.items() if isinstance(members, dict) else ())
            if isinstance(one, dict) and one.get("type") == "array"
        ]
        hint = f"; its member {lists[0]!r} is one" if lists else ""
        yield self._doubt(f"makes it {kind}, and forEach needs a list{hint}", certain=True)

    def _doubt(self, said: str, *, certain: bool) -> Doubt:
        of_whom = f"the output schema of {self.reference.task_id!r}"
        return Doubt(Problem(self.place, f"{self.reference.text}: {of_whom} {said}"), certain)


def _is_plain(schema: Json) -> bool:
    """Whether nothing in the schema refers to another or offers a choice."""
    return isinstance(schema, dict) and not _ELSEWHERE & schema.keys()
