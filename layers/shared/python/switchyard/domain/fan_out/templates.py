"""Fills in the placeholders of a fan-out's texts: `${item.name}`, `${index}`, and at the second
level `${outer.name}` and `${outerIndex}`. In the texts of a job's template, `${input.name}` stands
for the input of the job.

References to other tasks stay as they are: each item's worker resolves them, as for any task.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from switchyard.domain.prompts.references import (
    MAX_LENGTH,
    STEP,
    NotAReference,
    Step,
    UnresolvedReference,
    as_text,
    part_of_value,
    steps_in,
)
from switchyard.domain.tasks.task import Json

OF_ITEMS: Final = ("item", "index")
OF_OUTER_ITEMS: Final = ("outer", "outerIndex")
INPUT: Final = "input"

_ROOTS: Final = "|".join((*OF_ITEMS, *OF_OUTER_ITEMS))
_OF_ITEMS: Final = re.compile(rf"\$\$\{{|\$\{{(?:{_ROOTS})(?=[.\[}}])")
_OF_TEMPLATES: Final = re.compile(rf"\$\$\{{|\$\{{{INPUT}(?=[.\[}}])")
_NAMED: Final = re.compile(rf"\$\{{({_ROOTS}|{INPUT})((?:{STEP.pattern})*)\}}")
_ESCAPED: Final = "$${"


@dataclass(frozen=True, slots=True)
class NamedPart:
    """A part of an item, of another value that is known, or a number."""

    text: str
    root: str
    steps: tuple[Step, ...]

    def value(self, known: Mapping[str, Json]) -> Json:
        """Raise `UnresolvedReference`."""
        return part_of_value(known[self.root], self.steps, text=self.text, place=self.root)


def named_part(text: str, start: int = 0) -> NamedPart:
    """Read the expression that begins there. Raise `NotAReference`."""
    match = _NAMED.match(text, start, start + MAX_LENGTH)
    if match is None:
        raise NotAReference(text[start : start + MAX_LENGTH])
    return NamedPart(match[0], match[1], steps_in(match[2], within=match[0]))


def parts_of_template(text: str, *, of_items: bool = True) -> list[str | NamedPart]:
    """Return the plain text and what stands for parts of items, or else of the input of a job's
    template, in turn. Raise `NotAReference`.

    `$${` is part of the plain text: a worker that resolves references reads it as `${`.
    """
    parts: list[str | NamedPart] = []
    plain, done = 0, 0
    pattern = _OF_ITEMS if of_items else _OF_TEMPLATES
    while beginning := pattern.search(text, done):
        done = beginning.end()
        if beginning[0] == _ESCAPED:
            continue
        part = named_part(text, beginning.start())
        parts += [text[plain : beginning.start()], part]
        plain = done = beginning.start() + len(part.text)
    return [part for part in (*parts, text[plain:]) if part != ""]


def filled(template: Json, known: Mapping[str, Json]) -> Json:
    """Return the template with the parts of what is known. Raise `UnresolvedReference`.

    What they bring in is data: a `${` in it is escaped, and refers to nothing.
    """
    match template:
        case str() if "${" in template:
            parts = parts_of_template(template, of_items=INPUT not in known)
            return _filled_text(parts, known)
        case dict():
            return {name: filled(inner, known) for name, inner in template.items()}
        case list() | tuple():
            return [filled(inner, known) for inner in template]
    return template


def _filled_text(parts: list[str | NamedPart], known: Mapping[str, Json]) -> Json:
    match parts:
        case [NamedPart() as only]:
            return _escaped(only.value(known))
    written = ""
    for part in parts:
        text = part if isinstance(part, str) else _escaped(as_text(part.value(known)))
        if written.endswith("$") and text.startswith(("$", "{")):
            raise UnresolvedReference("a text that ends with $ cannot stand right before ${ or {")
        written += text
    return written


def _escaped(value: Json) -> Json:
    match value:
        case str():
            return value.replace("${", _ESCAPED)
        case dict():
            return {name: _escaped(inner) for name, inner in value.items()}
        case list():
            return [_escaped(inner) for inner in value]
    return value
