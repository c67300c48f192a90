"""Makes JSON Schemas of a function's type hints, with pydantic: on the author's machine only."""

from collections.abc import Callable
from typing import Any, Final

from pydantic import PydanticSchemaGenerationError, PydanticUserError, TypeAdapter
from pydantic.errors import PydanticInvalidForJsonSchema

from switchyard.functions.calls import hints_of
from switchyard.functions.errors import FunctionsError

_DATA: Final = frozenset({"const", "default", "enum", "examples"})
"""Keywords whose values are data, and no schemas."""


def input_schema(function: Callable[..., Any]) -> dict[str, Any]:
    """Return the schema of the input: an object with a member for each parameter.

    A function that needs no argument takes no input at all as well. Raise `FunctionsError`.
    """
    schema = _schema(function, f"{function.__name__}: its parameters")
    if not schema.get("required"):
        schema["type"] = ["object", "null"]
    return schema


def output_schema(function: Callable[..., Any]) -> dict[str, Any] | None:
    """Return the schema of the result; `None` if no type hint says it. Raise `FunctionsError`."""
    hints = hints_of(function)
    if hints.get("return", Any) is Any:
        return None
    return _schema(hints["return"], f"{function.__name__}: its result", mode="serialization")


def _schema(hinted: Any, what: str, *, mode: Any = "validation") -> dict[str, Any]:
    try:
        schema = TypeAdapter(hinted).json_schema(mode=mode)
    except (
        NameError,
        PydanticInvalidForJsonSchema,
        PydanticSchemaGenerationError,
        PydanticUserError,
    ) as error:
        first = str(error).partition("\n")[0]
        raise FunctionsError(f"{what} cannot be described as JSON Schema: {first}") from error
    untitled: dict[str, Any] = _without_titles(schema)
    return untitled


def _without_titles(schema: Any) -> Any:
    """Remove the titles that pydantic derives from names; a property may be called `title`."""
    if isinstance(schema, list):
        return [_without_titles(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        name: {inner: _without_titles(part) for inner, part in value.items()}
        if name in {"properties", "$defs"}
        else (value if name in _DATA else _without_titles(value))
        for name, value in schema.items()
        if name != "title"
    }
