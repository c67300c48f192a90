"""What all models that cross a boundary share: frozen, closed, camelCase outside."""

import re
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field
from pydantic.alias_generators import to_camel

from switchyard.domain.json_values import problem_in
from switchyard.domain.text import without_control_characters


class Wire(BaseModel):
    model_config = ConfigDict(
        frozen=True, extra="forbid", alias_generator=to_camel, populate_by_name=True
    )


def _clean(value: Any) -> Any:
    return without_control_characters(value) if isinstance(value, str) else value


def _kept(value: Any) -> Any:
    problem = problem_in(value)
    if problem:
        raise ValueError(problem)
    return value


CleanText = Annotated[str, BeforeValidator(_clean)]
"""Cleaned first, so that limits of length hold for what is left."""

JsonValue = Annotated[Any, AfterValidator(_kept)]
"""Whatever JSON can say, and nothing that it cannot."""


def at_most(count: int) -> BeforeValidator:
    """Of a list or an object: counted before its parts are looked at, which may all be wrong.

    A million problems are more than a function can tell.
    """

    def few_enough(given: Any) -> Any:
        if isinstance(given, list | dict) and len(given) > count:
            raise ValueError(f"there are {len(given):,}; at most {count:,} are accepted")
        return given

    return BeforeValidator(few_enough)


def told_as(pattern: re.Pattern[str]) -> Any:
    """For the description of the API: what a validator of our own, with better words, checks."""
    return Field(json_schema_extra={"pattern": f"^{pattern.pattern}$"})


def unless_absent() -> Any:
    """Left out if it is null: a job has ten thousand tasks, and one answer."""
    return Field(default=None, exclude_if=lambda value: value is None)
