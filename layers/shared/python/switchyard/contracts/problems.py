"""The API's refusals: problem details that list every problem with its place."""

import re
from collections.abc import Iterable, Mapping
from http import HTTPStatus
from typing import Any, Final

from switchyard.contracts.wire import Written
from switchyard.domain.errors import Problem, not_too_many
from switchyard.domain.text import did_you_mean

PROBLEM_TYPE: Final = "application/problem+json"

MAX_PLACE: Final = 500
"""Characters; likewise below. Names in a request may be as long as the request."""
MAX_MESSAGE: Final = 1_500
MAX_DETAIL: Final = 20_000
MAX_QUOTED: Final = 60

# Python 3.13 renamed these after RFC 9110; an answer must not depend on who runs the function.
_RENAMED_STATUSES: Final[Mapping[int, str]] = {
    413: "Content Too Large",
    414: "URI Too Long",
    416: "Range Not Satisfiable",
    422: "Unprocessable Content",
}

_OUR_WORDS: Final = {
    "extra_forbidden": "is not a field that is known here",
    "missing": "is required",
    "tuple_type": "should be a list",
    "dict_type": "should be an object",
    "string_type": "should be a text",
    "bool_parsing": "should be true or false",
    "int_from_float": "should be a whole number",
    "int_parsing": "should be a whole number",
    "int_type": "should be a whole number",
    "float_parsing": "should be a number",
    "float_type": "should be a number",
}

_NOT_TEXT: Final = {bool: "true and false", int: "a number", float: "a number"}
_MEMBER: Final = re.compile(r"<[\w.]+: ('[^']*')>")
"""A member of an enumeration, as Pydantic names it in what it expected."""
_QUOTED: Final = re.compile(r"'([^']*)'")


class ProblemEntry(Written):
    path: str
    message: str


class ProblemDetails(Written):
    title: str
    status: int
    detail: str
    problems: tuple[ProblemEntry, ...] = ()


def title_of(status: HTTPStatus) -> str:
    """The name of a status in RFC 9110, the same under every Python."""
    return _RENAMED_STATUSES.get(status, status.phrase)


def entries(problems: Iterable[Problem]) -> tuple[ProblemEntry, ...]:
    return tuple(
        ProblemEntry(
            path=beginning(".".join(map(str, problem.path)), MAX_PLACE),
            message=beginning(problem.message, MAX_MESSAGE),
        )
        for problem in problems
    )


def beginning(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


def validation_problems(errors: Iterable[Mapping[str, Any]]) -> list[Problem]:
    """Return Pydantic's errors in our words, without the leading `body` or `query` of a request."""
    problems = [_problem(error) for error in errors]
    return list(not_too_many(problems))


def _problem(error: Mapping[str, Any]) -> Problem:
    if error["type"] == "json_invalid":
        return Problem((), f"the body is not JSON: {error['ctx']['error'].lower()}")
    return Problem(_place(error["loc"]), _sentence(error))


def _place(location: tuple[str | int, ...]) -> tuple[str | int, ...]:
    return location[1:] if location and location[0] in {"body", "query", "path"} else location


def _sentence(error: Mapping[str, Any]) -> str:
    given = error.get("input")
    if error["type"] == "tuple_type" and isinstance(given, str):
        return f"should be a list: write [{beginning(given, MAX_QUOTED)}]"
    if error["type"] == "string_type" and isinstance(given, int | float):
        return f"{_OUR_WORDS['string_type']}: put {_NOT_TEXT[type(given)]} in quotes"
    if error["type"] in _OUR_WORDS:
        return _OUR_WORDS[error["type"]]
    message = _MEMBER.sub(r"\1", str(error["msg"]).removeprefix("Value error, "))
    if error["type"] in {"literal_error", "enum"} and isinstance(given, str):
        message += did_you_mean(given, _QUOTED.findall(message))
    return message[0].lower() + message[1:]
