"""Checks what options say of a queue or an item before a request is sent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from switchyard.contracts.problems import validation_problems
from switchyard_cli.errors import BadInput

if TYPE_CHECKING:
    from pydantic import BaseModel

M = TypeVar("M", bound="BaseModel")


def checked(model: type[M], content: dict[str, Any]) -> M:
    """Return the request. Raise `BadInput` with every problem."""
    from pydantic import ValidationError  # noqa: PLC0415 - help needs no models

    try:
        return model.model_validate(content)
    except ValidationError as error:
        found = [{**one, "loc": ("body", *one["loc"])} for one in error.errors()]
        raise BadInput("; ".join(map(str, validation_problems(found)))) from error
