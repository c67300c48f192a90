"""Checks a fan-out as its author describes it, before its list is known."""

from collections.abc import Iterator, Sequence
from typing import Final

from switchyard.domain.errors import Problem
from switchyard.domain.fan_out.fan_outs import MAX_LEVELS, FanOut
from switchyard.domain.fan_out.items import Items, NotExpandable, items_of
from switchyard.domain.fan_out.templates import (
    INPUT,
    OF_OUTER_ITEMS,
    NamedPart,
    named_part,
    parts_of_template,
)
from switchyard.domain.jobs.graph import TaskSpec
from switchyard.domain.prompts.references import (
    NotAReference,
    Place,
    Reference,
    reference_at,
    texts_in,
)

FOR_EACH: Final = "forEach"
_FIELDS: Final = (FOR_EACH, "key", "input")
_FORMS: Final = "${tasks.ID.output.name} or ${input.name}, or a file: {file: job/NAME}"


def tasks_read_by(fan_out: FanOut) -> list[str]:
    """Return the tasks whose outputs have the list."""
    first = fan_out.for_each[0]
    if fan_out.in_file or first.startswith(f"${{{INPUT}"):
        return []
    return [reference_at(first, 0).task_id]


def list_in_input(spec: TaskSpec) -> Items | None:
    """Return the items of a fan-out whose list is in its own input. Raise `NotExpandable`."""
    fan_out = spec.fan_out
    if fan_out is None or fan_out.in_file or tasks_read_by(fan_out):
        return None
    return items_of(fan_out, spec.input, {}, task_id=spec.task_id)


def references_of_lists(specs: Sequence[TaskSpec]) -> Iterator[tuple[str, Reference]]:
    """Return the tasks whose outputs have the lists of fan-outs, each with the fan-out."""
    for index, spec in enumerate(specs):
        first = spec.fan_out.for_each[0] if spec.fan_out and not spec.fan_out.in_file else ""
        if first.startswith("${tasks.") and _is_list_reference(first):
            yield spec.task_id, reference_at(first, 0, ("tasks", index, FOR_EACH))


def fan_out_problems_in(specs: Sequence[TaskSpec]) -> list[Problem]:
    """Find what is wrong with the fan-outs among these tasks."""
    return [one for index, spec in enumerate(specs) for one in fan_out_problems(spec, index)]


def fan_out_problems(spec: TaskSpec, index: int) -> list[Problem]:
    """Say what is wrong with the texts of a fan-out, and with a list that is in its input."""
    if spec.fan_out is None:
        return []
    where = ("tasks", index)
    problems = problems_with_texts(spec, index)
    if problems:
        return problems
    try:
        list_in_input(spec)
    except NotExpandable as problem:
        field, _, said = str(problem).partition(": ")
        of_field = field in _FIELDS
        return [Problem((*where, field), said) if of_field else Problem(where, str(problem))]
    return []


def problems_with_texts(spec: TaskSpec, index: int) -> list[Problem]:
    """Say what is wrong with the texts of a fan-out, whatever its input is filled with."""
    if spec.fan_out is None:
        return []
    where = ("tasks", index)
    return [
        *_for_each_problems(spec.fan_out, where),
        *_key_problems(spec.fan_out, where),
        *_template_problems(spec, where),
    ]


def _for_each_problems(fan_out: FanOut, where: Place) -> Iterator[Problem]:
    path = (*where, FOR_EACH)
    if not 1 <= len(fan_out.for_each) <= MAX_LEVELS:
        yield Problem(path, f"has {len(fan_out.for_each)} lists; it has 1, or {MAX_LEVELS}")
        return
    first, *second = fan_out.for_each
    if not (fan_out.in_file or _is_list_reference(first)):
        yield Problem(path, f"{first[:80]!r} must be exactly one reference, {_FORMS}")
    for text in second:
        if not _is_whole(text, "item"):
            said = "the second list is one of the first one's item"
            yield Problem(path, f"{text[:80]!r} must be exactly ${{item.name}}: {said}")


def _is_list_reference(text: str) -> bool:
    if text.startswith(f"${{{INPUT}"):
        return _is_whole(text, INPUT)
    try:
        return reference_at(text, 0).text == text
    except NotAReference:
        return False


def _is_whole(text: str, root: str) -> bool:
    try:
        part = named_part(text)
    except NotAReference:
        return False
    return part.text == text and part.root == root


def _key_problems(fan_out: FanOut, where: Place) -> Iterator[Problem]:
    path = (*where, "key")
    if fan_out.key and len(fan_out.key) != len(fan_out.for_each):
        said = f"has {len(fan_out.key)} parts and forEach {len(fan_out.for_each)}"
        yield Problem(path, f"{said}; each list needs one of its own")
    for level, text in enumerate(fan_out.key):
        yield from _problems_in(text, path, outer=level > 0)
        if "${tasks." in text:
            yield Problem(path, "is made of the item: ${item.name}, ${index}")


def _template_problems(spec: TaskSpec, where: Place) -> Iterator[Problem]:
    outer = spec.fan_out is not None and len(spec.fan_out.for_each) > 1
    for place, text in texts_in(spec.input):
        yield from _problems_in(text, (*where, "input", *place), outer=outer)


def _problems_in(text: str, path: Place, *, outer: bool) -> Iterator[Problem]:
    try:
        parts = parts_of_template(text)
    except NotAReference as problem:
        yield Problem(path, f"{problem.shown} is not an item's: one looks like ${{item.name[0]}}")
        return
    for part in parts:
        if isinstance(part, NamedPart) and part.root in OF_OUTER_ITEMS and not outer:
            yield Problem(path, f"{part.text} needs a second list in forEach")
