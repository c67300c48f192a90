"""References in a task's input to what earlier tasks made.

    ${tasks.scrape.output}                          the whole output
    ${tasks.scrape.output.products[0].name}         a part of it
    ${tasks.scrape.output["any name"]}              a member whose name is no plain word
    $${tasks.scrape.output}                         no reference: the text `${tasks.scrape.output}`

A text that is one reference becomes the value itself; inside a longer text a reference becomes
text. Names of members are not looked at, and neither is what a reference brings in.
"""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from switchyard.domain.ids import TASK_ID
from switchyard.domain.tasks.task import Json

MAX_LENGTH: Final = 1_000
SHOWN: Final = 120  # characters of what is not a reference

Step = str | int
Place = tuple[Step, ...]

_ESCAPED: Final = "$${"
_BEGINNING: Final = re.compile(r"\$\$\{|\$\{tasks\.")
_STEP: Final = re.compile(r'\.[a-zA-Z0-9_-]+|\[[0-9]{1,9}\]|\["(?:[^"\\]|\\.)*"\]')
_REFERENCE: Final = re.compile(rf"\$\{{tasks\.({TASK_ID.pattern})\.output((?:{_STEP.pattern})*)\}}")


class NotAReference(ValueError):
    def __init__(self, text: str) -> None:
        upto, closed, _ = text.partition("}")
        shown = f"{upto}{closed}" if len(upto) < SHOWN else f"{text[:SHOWN]}…"
        super().__init__(
            f"{shown} is no reference: one looks like ${{tasks.ID.output.name[0]}}, "
            "and $${ stands for ${ as it is"
        )


@dataclass(frozen=True, slots=True)
class Reference:
    path: Place
    """Where in the input its text is."""
    text: str
    task_id: str
    steps: tuple[Step, ...]
    """What to take from the output, one after the other: names of members and indices."""


def references_in(value: Json) -> list[Reference]:
    """Raise `NotAReference` for what begins like one and is none."""
    return [
        part
        for path, text in texts_in(value)
        for part in parts_of(text, path)
        if isinstance(part, Reference)
    ]


def texts_in(value: Json) -> Iterator[tuple[Place, str]]:
    """Those that may contain a reference, in the order of the document."""
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
    """Plain text and references in turn. Raise `NotAReference`."""
    parts: list[str | Reference] = []
    done = 0
    while beginning := _BEGINNING.search(text, done):
        start = beginning.start()
        if beginning[0] == _ESCAPED:
            parts += [text[done:start], "${"]
            done = beginning.end()
            continue
        reference = _reference_at(text, start, path)
        parts += [text[done:start], reference]
        done = start + len(reference.text)
    return [part for part in (*parts, text[done:]) if part != ""]


def _of_interest(path: Place, members: Iterable[tuple[Step, Json]]) -> Iterator[tuple[Place, Json]]:
    """The last comes first: they are taken from the end."""
    for step, inner in reversed(list(members)):
        if isinstance(inner, dict | list | tuple) or (isinstance(inner, str) and "${" in inner):
            yield (*path, step), inner


def _reference_at(text: str, start: int, path: Place) -> Reference:
    match = _REFERENCE.match(text, start, start + MAX_LENGTH)
    if match is None:
        raise NotAReference(text[start : start + MAX_LENGTH])
    try:
        steps = tuple(map(_step, _STEP.findall(match[2])))
    except ValueError as error:  # [007], or a quoted name that is no JSON
        raise NotAReference(match[0]) from error
    return Reference(path, match[0], match[1], steps)


def _step(text: str) -> Step:
    name_or_index: Step = text[1:] if text[0] == "." else json.loads(text)[0]
    return name_or_index
