"""A JSON Schema inside a document: kept only if it is one."""

import json
from collections.abc import Mapping
from typing import Annotated, Any, Final

from pydantic import AfterValidator

from switchyard.domain.json_values import problem_in

MAX_SCHEMA_BYTES: Final = 64_000  # no definition has room for more


def schema_problem(schema: Mapping[str, Any]) -> str | None:
    from jsonschema import Draft202012Validator  # noqa: PLC0415 - costs 60 ms, rarely needed
    from jsonschema.exceptions import SchemaError  # noqa: PLC0415

    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError as error:
        return f"not a JSON Schema: {error.json_path}: {error.message}"
    return None


def _size_problem(schema: Mapping[str, Any]) -> str | None:
    """Whether it is one takes minutes to tell of a schema of some megabytes."""
    size = len(json.dumps(schema, ensure_ascii=False, separators=(",", ":")).encode())
    if size <= MAX_SCHEMA_BYTES:
        return None
    return f"is {size:,} bytes; at most {MAX_SCHEMA_BYTES:,} are accepted"


def _checked(schema: dict[str, Any]) -> dict[str, Any]:
    problem = problem_in(schema) or _size_problem(schema) or schema_problem(schema)
    if problem:
        raise ValueError(problem)
    return schema


JsonSchema = Annotated[dict[str, Any], AfterValidator(_checked)]
