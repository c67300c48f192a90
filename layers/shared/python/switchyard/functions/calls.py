"""Calls a function with a task's input: the members of the input are its arguments, by name."""

import inspect
from collections.abc import Callable, Mapping
from typing import Any, Final, get_type_hints

from switchyard.domain.text import did_you_mean
from switchyard.functions.errors import FunctionsError, WrongInput
from switchyard.functions.values import from_json, to_json

_ANY_NAME: Final = inspect.Parameter.VAR_KEYWORD


def call(function: Callable[..., Any], given: Any) -> Any:
    """Call a function with a task's input; return its result as JSON.

    Raise `WrongInput`, `NotJson`, or whatever the function raises.
    """
    result = run(function, arguments_for(function, given))
    return result_of(function, result)


def run(function: Callable[..., Any], arguments: Mapping[str, Any]) -> Any:
    """Call a function, and wait for it if it is a coroutine function."""
    if not inspect.iscoroutinefunction(function):
        return function(**arguments)
    import asyncio  # noqa: PLC0415 - most functions need none

    return asyncio.run(function(**arguments))


def arguments_for(function: Callable[..., Any], given: Any) -> dict[str, Any]:
    """Return the arguments that an input means. Raise `WrongInput`."""
    members = {} if given is None else given
    if not isinstance(members, dict):
        raise WrongInput("the input must be an object with the function's arguments by name")
    parameters = inspect.signature(function).parameters
    named = {name: one for name, one in parameters.items() if one.kind is not _ANY_NAME}
    _check_names(members, named, takes_any=len(named) < len(parameters))
    hints = hints_of(function)
    rest = next((name for name in parameters if name not in named), "")
    return {
        name: from_json(value, hints.get(name if name in named else rest, Any), name=name)
        for name, value in members.items()
    }


def result_of(function: Callable[..., Any], result: Any) -> Any:
    """Return the result of a function as JSON. Raise `NotJson`."""
    return to_json(result, hints_of(function).get("return", Any))


def hints_of(function: Callable[..., Any]) -> dict[str, Any]:
    """Return the type hints of a function, by parameter. Raise `FunctionsError`."""
    try:
        return get_type_hints(function, include_extras=True)
    except (NameError, TypeError) as error:
        name = getattr(function, "__qualname__", function)
        raise FunctionsError(f"{name}: its type hints cannot be read: {error}") from error


def _check_names(
    members: Mapping[str, Any], named: Mapping[str, inspect.Parameter], *, takes_any: bool
) -> None:
    unknown = [name for name in members if name not in named]
    if unknown and not takes_any:
        hint = did_you_mean(unknown[0], list(named)) or (
            f"; it has {', '.join(map(repr, named))}" if named else "; it has none"
        )
        raise WrongInput(f"the function has no parameter {unknown[0]!r}{hint}")
    for name, parameter in named.items():
        if name not in members and parameter.default is inspect.Parameter.empty:
            raise WrongInput(f"the argument {name!r} is missing in the input")
