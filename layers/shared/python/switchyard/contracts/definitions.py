"""A task definition: what is to be done, by which role, within which limits."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, field_validator

from switchyard.contracts.wire import CleanText, Wire
from switchyard.domain.ids import DEFINITION_NAME
from switchyard.domain.json_values import problem_in

TWELVE_HOURS_MS = 12 * 60 * 60 * 1000


def _definition_name(name: str) -> str:
    if not DEFINITION_NAME.fullmatch(name):
        raise ValueError("must be 1 to 64 of a-z A-Z 0-9 - _")
    return name


DefinitionName = Annotated[str, AfterValidator(_definition_name)]


class TaskDefinition(Wire):
    description: CleanText = Field(min_length=1, max_length=20_000)
    tag: CleanText = Field(min_length=1, max_length=200)
    """The role that does it."""
    max_turns: int = Field(default=10, ge=1, le=200)
    tools: tuple[str, ...] = ()
    timeout: int | None = Field(default=None, ge=1_000, le=TWELVE_HOURS_MS)
    """Milliseconds; the stage's default when absent."""
    output_schema: dict[str, Any] | None = None
    model: str | None = Field(default=None, min_length=1, max_length=100)
    backend: Literal["claude-agent-sdk", "offline"] | None = None

    @field_validator("output_schema")
    @classmethod
    def _is_a_json_schema(cls, schema: dict[str, Any] | None) -> dict[str, Any] | None:
        if schema is not None:
            problem = problem_in(schema) or schema_problem(schema)
            if problem:
                raise ValueError(problem)
        return schema


class RegisteredDefinition(TaskDefinition):
    """A definition with its name and version; a version never changes."""

    name: DefinitionName
    version: int = Field(ge=1)

    @property
    def content(self) -> TaskDefinition:
        return TaskDefinition.model_validate(self.model_dump(exclude={"name", "version"}))


class DefinitionList(Wire):
    definitions: tuple[RegisteredDefinition, ...]


def schema_problem(schema: Mapping[str, Any]) -> str | None:
    from jsonschema import Draft202012Validator  # noqa: PLC0415 - costs 60 ms, rarely needed
    from jsonschema.exceptions import SchemaError  # noqa: PLC0415

    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError as error:
        return f"not a JSON Schema: {error.json_path}: {error.message}"
    return None
