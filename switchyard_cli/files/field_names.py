"""Suggest the field that a mistyped one in a file probably means."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from switchyard.domain.errors import Problem
from switchyard.domain.text import did_you_mean

if TYPE_CHECKING:
    from switchyard_cli.files.yaml_source import Place

UNKNOWN_FIELD = "is not a field that is known here"


def with_suggestions(problems: Iterable[Problem], model: type[BaseModel]) -> list[Problem]:
    """Add the nearest field, or all fields if none is near, to problems about unknown ones."""
    return [
        Problem(problem.path, problem.message + _hint(problem.path, model))
        if problem.message == UNKNOWN_FIELD
        else problem
        for problem in problems
    ]


def _hint(place: Place, model: type[BaseModel]) -> str:
    fields = known_fields(place[:-1], model)
    return did_you_mean(str(place[-1]), fields) or (
        f"; known are {', '.join(fields)}" if fields else ""
    )


def known_fields(place: Place, model: type[BaseModel]) -> list[str]:
    """Return the fields that an object at a place of a document may have."""
    schema = model.model_json_schema(by_alias=True)
    found = [schema]
    for step in place:
        found = [inner for one in found for inner in _inside(one, step, schema)]
    return list(dict.fromkeys(name for one in found for name in one.get("properties", {})))


def _inside(schema: dict[str, Any], step: str | int, root: dict[str, Any]) -> Iterator[Any]:
    if isinstance(step, int):
        candidates = [schema.get("items"), *schema.get("prefixItems", [])]
    else:
        named = schema.get("properties", {}).get(step)
        others = [schema.get("additionalProperties"), *schema.get("patternProperties", {}).values()]
        candidates = [named] if named else others
    for candidate in candidates:
        if isinstance(candidate, dict):
            yield from _resolved(candidate, root)


def _resolved(schema: dict[str, Any], root: dict[str, Any]) -> Iterator[Any]:
    if "$ref" in schema:
        yield from _resolved(root["$defs"][schema["$ref"].rpartition("/")[2]], root)
    elif "anyOf" in schema:
        for option in schema["anyOf"]:
            yield from _resolved(option, root)
    else:
        yield schema
