"""Compare references to outputs with the output schemas of the tasks that they name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from switchyard.domain.errors import Problem
from switchyard.domain.prompts.references import NotAReference, Reference, references_in
from switchyard.domain.text import did_you_mean

if TYPE_CHECKING:
    from switchyard.contracts.definitions import TaskDefinition
    from switchyard_cli.files.readable import Readable

_ELSEWHERE: Final = frozenset(
    {"$ref", "$dynamicRef", "allOf", "anyOf", "oneOf", "if", "patternProperties"}
)
"""Keywords that may allow members which are not among the `properties`."""


@dataclass(frozen=True)
class Doubt:
    """A reference to a member that the schema does not name."""

    problem: Problem
    certain: bool
    """Whether the schema forbids the member, so that the reference never has a value."""


def doubtful_references(
    file: Readable, definitions: Mapping[str, TaskDefinition]
) -> Iterator[Doubt]:
    """Yield each reference of a task's input to a member that its schema does not name."""
    one_each = [task for task in file.tasks.values() if not task.for_each]
    names = {task.task_id: task.name or "" for task in one_each}
    for index, task in file.tasks.items():
        try:
            references = references_in(task.input)
        except NotAReference:
            continue
        for reference in references:
            definition = definitions.get(names.get(reference.task_id, ""))
            if definition is not None and definition.process_output is None:
                yield from _doubts(("tasks", index, "input"), reference, definition.output_schema)


def _doubts(place: tuple[str | int, ...], reference: Reference, schema: Any) -> Iterator[Doubt]:
    for step in reference.steps:
        if not isinstance(schema, dict) or _ELSEWHERE & schema.keys():
            return
        if isinstance(step, int):
            schema = None if "prefixItems" in schema else schema.get("items")
            continue
        named, others = schema.get("properties"), schema.get("additionalProperties", True)
        if not isinstance(named, dict) or (step not in named and isinstance(others, dict)):
            return
        if step not in named:
            said = f"the output schema of {reference.task_id!r} names no {step!r}"
            message = f"{reference.text}: {said}{did_you_mean(step, named)}"
            yield Doubt(Problem((*place, *reference.path), message), certain=others is False)
            return
        schema = named[step]
