"""Read plain arguments and options without Pydantic, with which Typer reads all of them.

Its import takes longer than all else that a listing does. What is not plain, and what is wrong,
Typer reads and refuses.
"""

import re
from collections.abc import Callable
from enum import Enum
from functools import partial
from typing import Any, Final

from typer.core import TyperCommand, TyperGroup

NOT_PLAIN: Final = object()
FEW_DIGITS: Final = r"[0-9]{1,18}"


class PlainCommand(TyperCommand):
    """Lets its parameters, `--help` included, read plain values themselves."""

    def get_params(self, ctx: Any) -> list[Any]:
        return _reading_plainly(super().get_params(ctx))


class PlainGroup(TyperGroup):
    """Reads its parameters as `PlainCommand` does."""

    def get_params(self, ctx: Any) -> list[Any]:
        return _reading_plainly(super().get_params(ctx))


def _reading_plainly(parameters: list[Any]) -> list[Any]:
    for parameter in parameters:
        if "process_value" not in vars(parameter):
            by_typer = parameter.process_value
            parameter.process_value = partial(_value, parameter, by_typer)
    return parameters


def _value(parameter: Any, by_typer: Callable[[Any, Any], Any], context: Any, given: Any) -> Any:
    value = NOT_PLAIN
    if parameter.nargs == 1 and not parameter.multiple:
        value = _plain(parameter.type_descriptor, given)
    if value is NOT_PLAIN or (value is None and parameter.required):
        return by_typer(context, given)
    return parameter.callback(context, parameter, value) if parameter.callback else value


def _plain(descriptor: Any, given: Any) -> Any:
    wanted = descriptor.annotation
    if given is None:
        return None
    if descriptor.parameter_info.parser is not None:
        return NOT_PLAIN
    if wanted is str and isinstance(given, str):
        return given
    if isinstance(wanted, type) and issubclass(wanted, Enum):
        return next((one for one in wanted if given in (one, one.value)), NOT_PLAIN)
    if wanted is int and re.fullmatch(FEW_DIGITS, str(given)):
        return _within(int(given), descriptor.parameter_info)
    return NOT_PLAIN


def _within(number: int, limits: Any) -> Any:
    too_small = limits.min is not None and number < limits.min
    too_large = limits.max is not None and number > limits.max
    return NOT_PLAIN if too_small or too_large else number
