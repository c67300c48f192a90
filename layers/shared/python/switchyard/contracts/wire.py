"""The base classes of models that cross a boundary: frozen, camelCase outside, closed or open.

`Closed` is what others send: an unknown field is an error, so that a misspelt one is found.
`Written` is what Switchyard itself stores, sends, emits or answers. A newer version may have
written it, so unknown fields are ignored, at every level.
"""

import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Annotated, Any, Final, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WrapValidator,
)
from pydantic.alias_generators import to_camel

from switchyard.domain.errors import NewerVersion
from switchyard.domain.ids import DEFINITION_NAME, DEFINITION_NAME_RULE
from switchyard.domain.json_values import problem_in
from switchyard.domain.text import without_control_characters


class Wire(BaseModel):
    model_config = ConfigDict(frozen=True, alias_generator=to_camel, populate_by_name=True)


class Closed(Wire):
    """A model of data that users, their files and other programs send."""

    model_config = ConfigDict(extra="forbid")


class Written(Wire):
    """A model of data that this or another version of Switchyard wrote."""

    model_config = ConfigDict(extra="ignore")

    @classmethod
    def model_validate(cls, obj: Any, **how: Any) -> Self:
        return super().model_validate(obj, **cls._open_below(how))

    @classmethod
    def model_validate_json(cls, json_data: str | bytes | bytearray, **how: Any) -> Self:
        return super().model_validate_json(json_data, **cls._open_below(how))

    @classmethod
    def _open_below(cls, how: dict[str, Any]) -> dict[str, Any]:
        """A closed model inside, such as the job in its document, is read as openly."""
        return {"extra": cls.model_config["extra"]} | how


def refuse_newer(latest: int) -> Callable[[Any], Any]:
    """Refuse newer schemas; pydantic leaves the error as it is, since it is no `ValueError`."""

    def refuse(given: Any) -> Any:
        if isinstance(given, int) and given > latest:
            raise NewerVersion(
                f"schema {given} is of a newer version; this one reads up to {latest}"
            )
        return given

    return refuse


SchemaOne = Annotated[Literal[1], BeforeValidator(refuse_newer(1))]
"""The schema number of a written document. Raise `NewerVersion` for a later one."""


def _clean(value: Any) -> Any:
    return without_control_characters(value) if isinstance(value, str) else value


def _stored(value: Any) -> Any:
    problem = problem_in(value)
    if problem:
        raise ValueError(problem)
    return value


def _one_line(value: Any) -> Any:
    return " ".join(_clean(value).split()) if isinstance(value, str) else value


CLEANED: Final = BeforeValidator(_clean)
"""Cleans text that may be absent, after its limits: `Annotated[str, Field(…), CLEANED]`."""
CleanText = Annotated[str, CLEANED]
"""Text that is cleaned first, so that limits of length hold for what is left."""

CleanLine = Annotated[str, BeforeValidator(_one_line)]
"""Clean text on one line: no value can begin a line of its own in a log."""

JsonValue = Annotated[Any, AfterValidator(_stored)]
"""Any value that JSON can express."""


def at_most(count: int) -> BeforeValidator:
    """Limit a list or an object, and count before validating its parts, which may all be wrong.

    A million problems are more than a function can report.
    """

    def few_enough(given: Any) -> Any:
        if isinstance(given, list | dict) and len(given) > count:
            raise ValueError(f"there are {len(given):,}; at most {count:,} are accepted")
        return given

    return BeforeValidator(few_enough)


def timeout_up_to(most_ms: int) -> WrapValidator:
    """Refuse a timeout with a sentence that names its unit: many people expect seconds."""

    def refuse(given: Any, check: ValidatorFunctionWrapHandler) -> Any:
        try:
            return check(given)
        except ValidationError as error:
            raise ValueError(
                f"a timeout is in milliseconds, from 1,000 to {most_ms:,}; 5 minutes are 300000"
            ) from error

    return WrapValidator(refuse)


def described_by(pattern: re.Pattern[str]) -> Any:
    """Describe in the API's document what a validator of our own, with better messages, checks."""
    return Field(json_schema_extra={"pattern": f"^{pattern.pattern}$"})


def _definition_name(name: str) -> str:
    if not DEFINITION_NAME.fullmatch(name):
        raise ValueError(f"must be {DEFINITION_NAME_RULE}")
    return name


DefinitionName = Annotated[str, AfterValidator(_definition_name), described_by(DEFINITION_NAME)]
"""The name of a task definition, which messages and jobs contain."""


def unless_absent(**more: Any) -> Any:
    """Return a field that is left out if it is null: one answer may have ten thousand tasks."""
    return Field(default=None, exclude_if=lambda value: value is None, **more)


def instant(milliseconds: int | None) -> datetime | None:
    """Return the moment that is stored as milliseconds since 1970."""
    return None if milliseconds is None else datetime.fromtimestamp(milliseconds / 1000, tz=UTC)
