"""Placeholders in a description, and the values they stand for.

    {{input.shop.name}}             the task's input
    {{tasks.scrape.output.title}}   what a task it depends on made
    {{steps.plan.output.0}}         what an earlier step of the same task made

Each must have a value. In any other name in double braces, `{{shop}}`, the input is looked up too,
but what it lacks stays as written: that may be text which only looks like a placeholder.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

_PLACEHOLDER: Final = re.compile(r"\{\{\s*([A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*)\s*\}\}")
_ROOTS: Final = ("input", "tasks", "steps")
_NOTHING: Final = object()


class MissingValue(ValueError):
    def __init__(self, placeholder: str) -> None:
        super().__init__(f"{placeholder} in the description has no value")


@dataclass(frozen=True, slots=True, kw_only=True)
class Values:
    """What placeholders may reach."""

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


def fill_placeholders(text: str, values: Values) -> str:
    """Replace each once: what a value brings in is not looked at again. Raise `MissingValue`."""

    def value(match: re.Match[str]) -> str:
        path = match[1].split(".")
        if path[0] in _ROOTS:
            found = values.find(path)
            if found is _NOTHING:
                raise MissingValue(match[0])
            return _inline(found)
        found = _look_up(values.input, path)
        return match[0] if found is _NOTHING or found is None else _inline(found)

    return _PLACEHOLDER.sub(value, text)


def steps_named_in(text: str) -> list[str]:
    """The steps whose outputs a description asks for, in the order of their placeholders."""
    paths = [match[1].split(".") for match in _PLACEHOLDER.finditer(text)]
    return [path[1] for path in paths if path[0] == "steps" and len(path) > 1]


def _look_up(value: Any, path: list[str]) -> Any:
    for name in path:
        if isinstance(value, Mapping):
            value = value.get(name, _NOTHING)
        elif isinstance(value, list) and name.isdecimal() and int(name) < len(value):
            value = value[int(name)]
        else:
            return _NOTHING
    return value


def _inline(value: Any) -> str:
    """Plain text as it is; anything that could begin a section or a fence as one line of JSON."""
    if isinstance(value, str) and "\n" not in value and not value.lstrip().startswith(("#", "`")):
        return value
    return json.dumps(value, ensure_ascii=False)
