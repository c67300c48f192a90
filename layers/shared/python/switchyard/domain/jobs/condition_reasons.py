"""Says why a condition holds or not: the condition and the values it saw, safe to publish."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from switchyard.domain.error_text import without_secrets
from switchyard.domain.prompts.references import Reference
from switchyard.domain.tasks.task import Json
from switchyard.domain.text import plain_text

MAX_REASON: Final = 300
MAX_SHOWN: Final = 60  # characters of one value, and of one reference
_MAX_WRITTEN: Final = 600  # so that a secret is recognized before it is cut
_MAX_BITS: Final = 512  # of a number whose digits are shown
_MAX_DEPTH: Final = 20  # levels of a value that are shown; they hardly fit
_ROOM_FOR_TEXT: Final = 60


def shortened(text: str, most: int = MAX_SHOWN) -> str:
    return text if len(text) <= most else f"{text[: most - 1].rstrip(' ,')}…"


@dataclass
class Seen:
    """The values that an evaluation saw, by the text of their references."""

    facts: dict[str, str] = field(default_factory=dict)

    def add(self, reference: Reference, value: Json) -> None:
        if reference.text not in self.facts:
            self._add(reference, _shown(reference, value))

    def add_absent(self, reference: Reference) -> None:
        self._add(reference, "absent")

    def _add(self, reference: Reference, shown: str) -> None:
        self.facts[reference.text] = f"{shortened(reference.text)} is {shown}"

    def within(self, room: int) -> str:
        """Join the last facts that there is room for: the last one decided."""
        chosen: list[str] = []
        for fact in reversed(self.facts.values()):
            room -= len(fact) + 2
            if chosen and room < 0:
                chosen.append("…")
                break
            chosen.append(fact)
        return ", ".join(reversed(chosen))


def reason(text: str, judgement: str, seen: Seen, *, cause: str = "") -> str:
    """Write the sentence: first what it says of the values, then as much as fits of the text."""
    cause = shortened(cause, 2 * MAX_SHOWN)
    fixed = len("the condition  : ; ") + len(judgement) + len(cause)
    facts = seen.within(MAX_REASON - fixed - _ROOM_FOR_TEXT)
    said = "; ".join(part for part in (cause, facts) if part)
    room = max(_ROOM_FOR_TEXT, MAX_REASON - fixed - len(facts))
    shown = shortened(" ".join(text.split()), room)
    sentence = f"the condition {shown} {judgement}{': ' if said else ''}{said}"
    return shortened(plain_text(sentence), MAX_REASON)


def _shown(reference: Reference, value: Json) -> str:
    """Write a value's beginning without secrets: the name of a member may say that it is one."""
    names = [step for step in reference.steps if isinstance(step, str)]
    name = f"{names[-1]}=" if names else ""
    return shortened(without_secrets(f"{name}{_beginning(value)}").removeprefix(name))


def _beginning(value: Json) -> str:
    """Write the beginning of a value as JSON, without reading more of it than that."""
    written = ""
    for piece in _pieces(value, depth=1):
        written += piece
        if len(written) >= _MAX_WRITTEN:
            break
    return written


def _pieces(value: Json, *, depth: int) -> Iterator[str]:
    match value:
        case dict() | list() | tuple() if depth > _MAX_DEPTH:
            yield "…"
        case dict():
            yield "{"
            for number, (name, inner) in enumerate(value.items()):
                yield f"{', ' if number else ''}{_scalar(name)}: "
                yield from _pieces(inner, depth=depth + 1)
            yield "}"
        case list() | tuple():
            yield "["
            for number, inner in enumerate(value):
                yield ", " if number else ""
                yield from _pieces(inner, depth=depth + 1)
            yield "]"
        case _:
            yield _scalar(value)


def _scalar(value: Json) -> str:
    match value:
        case str():
            return json.dumps(plain_text(value[:_MAX_WRITTEN]), ensure_ascii=False)
        case bool() | None:
            return json.dumps(value)
        case int() if value.bit_length() > _MAX_BITS:
            return "a very large number"
    return str(value)
