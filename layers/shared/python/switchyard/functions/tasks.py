"""Marks a function as a task, with its name, its time limit and its number of retries."""

import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, ParamSpec, TypeVar, overload

from switchyard.domain.ids import DEFINITION_NAME, DEFINITION_NAME_RULE
from switchyard.domain.jobs.limits import MAX_TIMEOUT_MS
from switchyard.domain.tasks.task import MAX_ATTEMPTS
from switchyard.functions.errors import FunctionsError

P = ParamSpec("P")
R = TypeVar("R")

MOST_RETRIES: Final = MAX_ATTEMPTS - 1
MIN_TIMEOUT_MS: Final = 1_000
_ATTRIBUTE: Final = "__switchyard_task__"
_DURATION: Final = re.compile(r"(\d{1,9})\s*(s|m|h)")
_MILLISECONDS: Final = {"s": 1_000, "m": 60_000, "h": 3_600_000}
_NOT_BY_NAME: Final[dict[object, str]] = {
    inspect.Parameter.POSITIONAL_ONLY: "is positional-only",
    inspect.Parameter.VAR_POSITIONAL: "takes any number of positions",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskOptions:
    """The options that the author of a function gave for its tasks."""

    name: str
    timeout_ms: int | None = None
    """The stage's time limit when absent."""
    retries: int = MOST_RETRIES


@overload
def task(function: Callable[P, R], /) -> Callable[P, R]: ...


@overload
def task(
    *, timeout: str | None = None, retries: int = MOST_RETRIES, name: str | None = None
) -> Callable[[Callable[P, R]], Callable[P, R]]: ...


def task(
    function: Callable[..., Any] | None = None,
    /,
    *,
    timeout: str | None = None,
    retries: int = MOST_RETRIES,
    name: str | None = None,
) -> Any:
    """Mark a function as a task, and return the function itself.

    `timeout` limits an attempt, as in "90s", "2m" or "1h". `retries` is how often a failed attempt
    is followed by another. `name` is the definition's name; the function's own when absent. Raise
    `FunctionsError`.
    """

    def mark(marked: Callable[P, R]) -> Callable[P, R]:
        called = str(name or getattr(marked, "__name__", ""))
        options = TaskOptions(
            name=_checked_name(called),
            timeout_ms=None if timeout is None else milliseconds(timeout),
            retries=_checked_retries(retries, called),
        )
        _check_parameters(marked, called)
        setattr(marked, _ATTRIBUTE, options)
        return marked

    return mark if function is None else mark(function)


def options_of(value: object) -> TaskOptions | None:
    """Return what `@task` noted on a function; `None` for anything else."""
    options = getattr(value, _ATTRIBUTE, None) if inspect.isfunction(value) else None
    return options if isinstance(options, TaskOptions) else None


def milliseconds(duration: str) -> int:
    """Read a duration such as "90s", "2m" or "1h". Raise `FunctionsError`."""
    found = _DURATION.fullmatch(duration.strip()) if isinstance(duration, str) else None
    value = int(found[1]) * _MILLISECONDS[found[2]] if found else 0
    if not MIN_TIMEOUT_MS <= value <= MAX_TIMEOUT_MS:
        raise FunctionsError(
            f'timeout={duration!r} is not a time limit: write "90s", "2m" or "1h", from 1 s to 12 h'
        )
    return value


def _checked_name(name: str) -> str:
    if not DEFINITION_NAME.fullmatch(name):
        raise FunctionsError(f"name={name!r} cannot name a task: use {DEFINITION_NAME_RULE}")
    return name


def _checked_retries(retries: int, name: str) -> int:
    if isinstance(retries, bool) or not isinstance(retries, int):
        raise FunctionsError(f"{name}: retries={retries!r} is not a number")
    if not 0 <= retries <= MOST_RETRIES:
        raise FunctionsError(f"{name}: retries={retries} is not from 0 to {MOST_RETRIES}")
    return retries


def _check_parameters(function: Callable[..., Any], name: str) -> None:
    """Refuse parameters that cannot be given by their names."""
    if not inspect.isfunction(function) or inspect.isgeneratorfunction(function):
        raise FunctionsError(f"{name}: @task marks a function that returns its result")
    for parameter in inspect.signature(function).parameters.values():
        problem = _NOT_BY_NAME.get(parameter.kind)
        if problem:
            raise FunctionsError(
                f"{name}: the parameter {parameter.name!r} {problem}, and a task's arguments are "
                "given by name"
            )
