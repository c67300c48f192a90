"""Turns JSON into a function's arguments, and its result into JSON, as its type hints say.

Hints that JSON itself can express are checked here. All others (dataclasses, pydantic models,
dates, sets) are left to pydantic, which is imported only then: it costs a child half a second.
"""

import json
import types
from collections.abc import Sequence
from typing import Any, Final, Literal, Union, get_args, get_origin

from switchyard.domain.json_values import problem_in
from switchyard.functions.errors import FunctionsError, NotJson, WrongInput

_NAMES: Final[dict[Any, str]] = {
    str: "a string",
    int: "an integer",
    float: "a number",
    bool: "true or false",
    type(None): "null",
    None: "null",
    list: "a list",
    dict: "an object",
}
_PLAIN: Final = frozenset(_NAMES)


def is_plain(hint: Any) -> bool:
    """Return whether JSON itself can express everything that a hint allows."""
    origin, inner = get_origin(hint), get_args(hint)
    if hint is Any or hint in (str, int, float, bool, None, type(None), list, dict):
        return True
    if origin in (Union, types.UnionType, list):
        return all(map(is_plain, inner))
    if origin is dict:
        return inner[0] is str and is_plain(inner[1])
    if origin is Literal:
        return all(isinstance(value, str | int | bool | None) for value in inner)
    return False


def from_json(value: Any, hint: Any, *, name: str) -> Any:
    """Return an argument as its hint wants it; `name` is the parameter's. Raise `WrongInput`."""
    return _plain(value, hint, name) if is_plain(hint) else _validated(value, hint, name)


def to_json(result: Any, hint: Any) -> Any:
    """Return a function's result as JSON. Raise `NotJson`."""
    if not is_plain(hint):
        result = _dumped(result, hint)
    problem = _names_problem(result) or problem_in(result)
    if problem:
        raise NotJson(f"the result of the function {problem}; return what JSON has")
    return result


def _plain(value: Any, hint: Any, at: str) -> Any:
    origin, inner = get_origin(hint), get_args(hint)
    if hint is Any:
        return value
    if origin in (Union, types.UnionType):
        return _first_fitting(value, inner, hint, at)
    if origin is Literal:
        if not any(value == one and type(value) is type(one) for one in inner):
            raise _wrong(at, f"one of {', '.join(map(repr, inner))}", value)
        return value
    if origin is list and isinstance(value, list):
        return [_plain(part, inner[0], f"{at}[{n}]") for n, part in enumerate(value)]
    if origin is dict and isinstance(value, dict):
        return {name: _plain(part, inner[1], f"{at}.{name}") for name, part in value.items()}
    return _scalar(value, origin or hint, at)


def _first_fitting(value: Any, hints: Sequence[Any], whole: Any, at: str) -> Any:
    for hint in hints:
        try:
            return _plain(value, hint, at)
        except WrongInput:
            continue
    raise _wrong(at, " or ".join(_described(hint) for hint in get_args(whole)), value)


def _scalar(value: Any, kind: Any, at: str) -> Any:
    wanted = type(None) if kind is None else kind
    if wanted is int and isinstance(value, float) and value.is_integer():
        return int(value)  # to JSON, 3.0 is an integer
    if wanted is float and isinstance(value, int) and not isinstance(value, bool):
        return value
    if type(value) is not wanted:
        raise _wrong(at, _NAMES[kind], value)
    return value


def _described(hint: Any) -> str:
    return _NAMES.get(get_origin(hint) or hint, "another value")


def _wrong(at: str, wanted: str, value: Any) -> WrongInput:
    return WrongInput(f"the argument {at!r} must be {wanted}, not {_NAMES[type(value)]}")


def _validated(value: Any, hint: Any, name: str) -> Any:
    from pydantic import ValidationError  # noqa: PLC0415

    try:
        return _adapter(hint, f"the argument {name!r}").validate_json(json.dumps(value))
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, (name, *first["loc"])))
        raise WrongInput(f"the argument {place!r} does not fit: {first['msg']}") from error


def _dumped(result: Any, hint: Any) -> Any:
    from pydantic_core import PydanticSerializationError  # noqa: PLC0415

    try:
        return _adapter(hint, "the result").dump_python(result, mode="json", warnings="error")
    except PydanticSerializationError as error:
        found = type(result).__name__
        raise NotJson(
            f"the function returned a {found}, which is not what its hint says"
        ) from error


def _adapter(hint: Any, what: str) -> Any:
    from pydantic import PydanticSchemaGenerationError, PydanticUserError, TypeAdapter  # noqa: PLC0415

    try:
        return TypeAdapter(hint)
    except (PydanticSchemaGenerationError, PydanticUserError) as error:
        raise FunctionsError(f"{what} has a type hint that JSON cannot express: {hint}") from error


def _names_problem(value: Any) -> str | None:
    """Find a member whose name is no text: `json` would turn it into one without a word."""
    waiting = [value]
    while waiting:
        part = waiting.pop()
        if isinstance(part, dict):
            if not all(isinstance(name, str) for name in part):
                return "has a member whose name is not a string"
            waiting += part.values()
        elif isinstance(part, list | tuple):
            waiting += part
    return None
