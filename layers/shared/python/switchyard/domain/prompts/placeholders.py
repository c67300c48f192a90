"""Placeholders in a description, and the values they stand for.

    {{input.shop.name}}             the task's input
    {{tasks.scrape.output.title}}   what a task it depends on made
    {{steps.plan.output.0}}         what an earlier step of the same task made

Each must have a value. In any other name in double braces, `{{shop}}`, the input is looked up too,
but what it lacks stays as written: that may be text which only looks like a placeholder.

A value is written as JSON between `<data from="input.shop.name">` and `</data>`. It contains no
`<`, so it can neither end that element nor begin another one, and no line break, so it can begin
neither a section nor a fence: the agent can tell data from what it is asked to do.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

_PLACEHOLDER: Final = re.compile(r"\{\{\s*([A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*)\s*\}\}")
DESCRIPTION_ROOTS: Final = ("input", "tasks", "steps")
_NOTHING: Final = object()
LONGEST_INDEX: Final = 9
MAX_FILLED: Final = 10_000_000  # characters: a description may ask for the same input many times


class MissingValue(ValueError):
    def __init__(self, placeholder: str) -> None:
        super().__init__(f"{placeholder} in the description has no value")


class TooMuchFilled(MissingValue):
    def __init__(self, placeholder: str) -> None:
        ValueError.__init__(
            self,
            f"with {placeholder} the description's placeholders bring in more than "
            f"{MAX_FILLED:,} characters",
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Values:
    """The values that placeholders may reach."""

    input: Any = None
    tasks: Mapping[str, Any] = field(default_factory=dict)
    """Outputs by task id."""
    steps: Mapping[str, Any] = field(default_factory=dict)
    """Outputs by step name."""

    def find(self, path: list[str]) -> Any:
        match path:
            case ["input", *rest]:
                return _look_up(self.input, rest)
            case ["tasks", name, "output", *rest]:
                return _look_up(self.tasks.get(name, _NOTHING), rest)
            case ["steps", name, "output", *rest]:
                return _look_up(self.steps.get(name, _NOTHING), rest)
        return _NOTHING

    def has(self, path: list[str]) -> bool:
        return self.find(path) is not _NOTHING


def paths_in(text: str) -> list[list[str]]:
    """Return the path of each placeholder of a description that must have a value."""
    paths = [match[1].split(".") for match in _PLACEHOLDER.finditer(text)]
    return [path for path in paths if path[0] in DESCRIPTION_ROOTS]


def fill_placeholders(text: str, values: Values) -> str:
    """Replace each once: what a value brings in is not looked at again. Raise `MissingValue`."""
    known: dict[str, str] = {}
    filled = 0

    def value(match: re.Match[str]) -> str:
        nonlocal filled
        if match[1] not in known:
            known[match[1]] = wanted(match)
        filled += len(known[match[1]])
        if filled > MAX_FILLED:
            raise TooMuchFilled(match[0])
        return known[match[1]]

    def wanted(match: re.Match[str]) -> str:
        path = match[1].split(".")
        if path[0] in DESCRIPTION_ROOTS:
            found = values.find(path)
            if found is _NOTHING:
                raise MissingValue(match[0])
            return _as_data(found, source=match[1])
        found = _look_up(values.input, path)
        if found is _NOTHING or found is None:
            return match[0]
        return _as_data(found, source=f"input.{match[1]}")

    return _PLACEHOLDER.sub(value, text)


def steps_named_in(text: str) -> list[str]:
    """The steps whose outputs a description asks for, in the order of their placeholders."""
    paths = [match[1].split(".") for match in _PLACEHOLDER.finditer(text)]
    return [path[1] for path in paths if path[0] == "steps" and len(path) > 1]


def is_index(name: str) -> bool:
    """Whether it can be one: longer numbers are no index, and cost the square of their length."""
    return name.isascii() and name.isdecimal() and len(name) <= LONGEST_INDEX


def _look_up(value: Any, path: list[str]) -> Any:
    for name in path:
        if isinstance(value, Mapping):
            value = value.get(name, _NOTHING)
        elif isinstance(value, list) and is_index(name) and int(name) < len(value):
            value = value[int(name)]
        else:
            return _NOTHING
    return value


def _as_data(value: Any, *, source: str) -> str:
    written = json.dumps(value, ensure_ascii=False).replace("<", "\\u003c")
    return f'<data from="{source}">{written}</data>'
