"""A JSON Schema inside a document: kept only if it is one."""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import AfterValidator

from switchyard.domain.json_values import problem_in


def schema_problem(schema: Mapping[str, Any]) -> str | None:
    from jsonschema import Draft202012Validator  # noqa: PLC0415 - costs 60 ms, rarely needed
    from jsonschema.exceptions import SchemaError  # noqa: PLC0415

    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError as error:
        return f"not a JSON Schema: {error.json_path}: {error.message}"
    return None


def _checked(schema: dict[str, Any]) -> dict[str, Any]:
    problem = problem_in(schema) or schema_problem(schema)
    if problem:
        raise ValueError(problem)
    return schema


JsonSchema = Annotated[dict[str, Any], AfterValidator(_checked)]
