"""Type hints become the schemas of a function's input and output."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

import pytest
from pydantic import Field

from switchyard.functions.errors import FunctionsError
from switchyard.functions.schemas import input_schema, output_schema


@dataclass
class Page:
    title: str
    number: Annotated[int, Field(ge=1)] = 1


def split(text: str, size: int = 800) -> list[str]:
    return [text[:size]]


def turned(page: Page, json: dict[str, Any] | None = None) -> Page:
    return page


def untyped(text, *, size=1):  # type: ignore[no-untyped-def]
    ...


def nothing() -> None: ...


def test_parameters_are_members_of_an_object() -> None:
    assert input_schema(split) == {
        "type": "object",
        "properties": {"text": {"type": "string"}, "size": {"type": "integer", "default": 800}},
        "required": ["text"],
        "additionalProperties": False,
    }
    assert output_schema(split) == {"type": "array", "items": {"type": "string"}}


def test_a_function_that_needs_no_argument_takes_no_input() -> None:
    assert input_schema(nothing)["type"] == ["object", "null"]
    assert output_schema(nothing) == {"type": "null"}


def test_a_function_without_hints_takes_and_returns_anything() -> None:
    schema = input_schema(untyped)

    assert schema["properties"] == {"text": {}, "size": {"default": 1}}
    assert output_schema(untyped) is None


def test_models_are_described_in_full_and_keep_members_called_title() -> None:
    schema = input_schema(turned)

    assert schema["properties"]["page"] == {"$ref": "#/$defs/Page"}
    assert schema["$defs"]["Page"]["properties"]["title"] == {"type": "string"}
    assert schema["$defs"]["Page"]["properties"]["number"]["minimum"] == 1


def test_what_json_schema_cannot_describe_is_refused() -> None:
    def function(value: Callable[[], int]) -> None: ...

    with pytest.raises(FunctionsError, match="function: its parameters cannot be described"):
        input_schema(function)
