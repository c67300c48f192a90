"""JSON Schemas inside a document, accepted only if they are valid.

Definitions' schemas are applied in a guarded process of a worker. A decision and a signal are
answered by the API, which has none, so their schemas are simple: checking a value with one takes
no longer than reading it.
"""

import json
import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Annotated, Any, Final

from pydantic import AfterValidator

from switchyard.domain.json_values import problem_in
from switchyard.domain.text import did_you_mean

if TYPE_CHECKING:
    from jsonschema.exceptions import SchemaError

MAX_SCHEMA_BYTES: Final = 64_000  # no definition has room for more
TYPES: Final = ("array", "boolean", "integer", "null", "number", "object", "string")
MAX_ODD_ITEMS: Final = 100
MAX_CASELESS_CHARACTERS: Final = 1_000

_CASELESS: Final = re.compile(r"\(\?[a-zA-Z-]*i")


def schema_problem(schema: Mapping[str, Any]) -> str | None:
    from jsonschema import Draft202012Validator  # noqa: PLC0415 - costs 60 ms, rarely needed
    from jsonschema.exceptions import SchemaError  # noqa: PLC0415

    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError as error:
        said = _type_problem(error.instance) if _is_type(error) else error.message
        return f"not a JSON Schema: {error.json_path}: {said}"
    return None


def _is_type(error: "SchemaError") -> bool:
    """Whether the value of the keyword `type` is wrong, which has two forms in the metaschema."""
    return error.validator == "anyOf" and list(error.path)[-1:] == ["type"]


def _type_problem(given: Any) -> str:
    names = given if isinstance(given, list) else [given]
    wrong = next((name for name in names if name not in TYPES), given)
    hint = did_you_mean(wrong, TYPES) if isinstance(wrong, str) else ""
    return f"{wrong!r:.100} is not a type; known are {', '.join(TYPES)}{hint}"


def _size_problem(schema: Mapping[str, Any]) -> str | None:
    """Return the problem of a schema that is too large: validating megabytes takes minutes."""
    size = len(json.dumps(schema, ensure_ascii=False, separators=(",", ":")).encode())
    if size <= MAX_SCHEMA_BYTES:
        return None
    return f"is {size:,} bytes; at most {MAX_SCHEMA_BYTES:,} are accepted"


def _cost_problem(schema: Mapping[str, Any]) -> str | None:
    """Return the problem of a schema that takes far longer to check than it has bytes.

    Lists whose items must differ are compared each with each unless they are words; a pattern that
    ignores case is compiled by looking at every character of each of its ranges.
    """
    characters = 0
    waiting: list[Any] = [schema]
    while waiting:
        part = waiting.pop()
        if isinstance(part, Mapping):
            waiting += part.values()
            characters += sum(map(len, _caseless_patterns(part)))
            if any(map(_is_odd, _word_lists(part))):
                return f"has a list of more than {MAX_ODD_ITEMS} items that are not all words"
        elif isinstance(part, list):
            waiting += part
    if characters > MAX_CASELESS_CHARACTERS:
        return (
            f"has patterns with (?i) of {characters:,} characters together; "
            f"at most {MAX_CASELESS_CHARACTERS:,} are accepted"
        )
    return None


def _word_lists(part: Mapping[str, Any]) -> Iterator[Any]:
    yield from (part.get("required"), part.get("type"))
    dependent = part.get("dependentRequired")
    yield from dependent.values() if isinstance(dependent, Mapping) else ()


def _is_odd(items: Any) -> bool:
    return (
        isinstance(items, list)
        and len(items) > MAX_ODD_ITEMS
        and not all(isinstance(item, str) for item in items)
    )


def _caseless_patterns(part: Mapping[str, Any]) -> Iterator[str]:
    named = part.get("patternProperties")
    for pattern in (part.get("pattern"), *(named if isinstance(named, Mapping) else ())):
        if isinstance(pattern, str) and _CASELESS.search(pattern):
            yield pattern


def problem_with(schema: dict[str, Any]) -> str | None:
    """Return the first problem with the schema, or `None`."""
    return (
        problem_in(schema)
        or _size_problem(schema)
        or _cost_problem(schema)
        or schema_problem(schema)
    )


def _checked(schema: dict[str, Any]) -> dict[str, Any]:
    problem = problem_with(schema)
    if problem:
        raise ValueError(problem)
    return schema


JsonSchema = Annotated[dict[str, Any], AfterValidator(_checked)]


MAX_SIMPLE_BYTES: Final = 8_000
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


def simple_schema_problem(schema: Mapping[str, Any]) -> str | None:
    """Say why a schema is not one that is applied without a guarded process; `None` if it is."""
    problem = problem_in(schema) or _simple_size_problem(schema) or _keyword_problem(schema)
    return problem or schema_problem(schema)


def _checked_simple(schema: dict[str, Any]) -> dict[str, Any]:
    problem = simple_schema_problem(schema)
    if problem:
        raise ValueError(problem)
    return schema


def _simple_size_problem(schema: Mapping[str, Any]) -> str | None:
    size = len(json.dumps(schema, ensure_ascii=False).encode())
    return (
        f"is {size:,} bytes; at most {MAX_SIMPLE_BYTES:,} are accepted"
        if size > MAX_SIMPLE_BYTES
        else None
    )


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


SimpleJsonSchema = Annotated[dict[str, Any], AfterValidator(_checked_simple)]
