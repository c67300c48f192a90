"""JSON Schemas that can be applied at once: checking a value takes no longer than reading it.

Definitions' schemas are applied in a guarded process of a worker. A decision and a signal are
answered by the API, which has none, so their schemas use few keywords.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Final

from pydantic import AfterValidator

from switchyard.contracts.json_schema import schema_problem
from switchyard.domain.json_values import problem_in
from switchyard.domain.text import did_you_mean

MAX_BYTES: Final = 8_000
MAX_CHOICES: Final = 100
_TEXTS: Final = frozenset({"$schema", "title", "description", "default", "examples"})
_LIMITS: Final = frozenset(
    {
        "type",
        "required",
        "enum",
        "const",
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "minLength",
        "maxLength",
        "minItems",
        "maxItems",
    }
)
_OF_PARTS: Final = frozenset({"properties", "items", "additionalProperties"})
KEYWORDS: Final = _TEXTS | _LIMITS | _OF_PARTS


def mismatch(value: Any, schema: Mapping[str, Any]) -> str | None:
    """Say where a value does not match; `None` if it does."""
    from jsonschema import Draft202012Validator  # noqa: PLC0415 - costs 60 ms, rarely needed
    from jsonschema.exceptions import best_match  # noqa: PLC0415

    error = best_match(Draft202012Validator(schema).iter_errors(value))
    return None if error is None else f"{error.json_path}: {error.message:.300}"


def _checked(schema: dict[str, Any]) -> dict[str, Any]:
    problem = problem_in(schema) or _size_problem(schema) or _keyword_problem(schema)
    problem = problem or schema_problem(schema)
    if problem:
        raise ValueError(problem)
    return schema


def _size_problem(schema: Mapping[str, Any]) -> str | None:
    size = len(json.dumps(schema, ensure_ascii=False).encode())
    return f"is {size:,} bytes; at most {MAX_BYTES:,} are accepted" if size > MAX_BYTES else None


def _keyword_problem(schema: Mapping[str, Any]) -> str | None:
    for part in _parts(schema):
        unknown = sorted(part.keys() - KEYWORDS)
        if unknown:
            known = ", ".join(sorted(_LIMITS | _OF_PARTS))
            hint = did_you_mean(unknown[0], KEYWORDS)
            return f"has {unknown[0]!r:.100}; a schema here may use {known}{hint}"
        choices = part.get("enum")
        if isinstance(choices, list) and len(choices) > MAX_CHOICES:
            return f"has an enum of {len(choices):,}; at most {MAX_CHOICES} are accepted"
    return None


def _parts(schema: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield the schema and those within it."""
    waiting: list[Any] = [schema]
    while waiting:
        part = waiting.pop()
        if isinstance(part, Mapping):
            yield part
            named = part.get("properties")
            waiting += named.values() if isinstance(named, Mapping) else ()
            waiting += [part.get("items"), part.get("additionalProperties")]


SimpleJsonSchema = Annotated[dict[str, Any], AfterValidator(_checked)]
