"""How the API says no: problem details that list every problem with its place."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from switchyard.contracts.wire import Wire
from switchyard.domain.errors import Problem, not_too_many

PROBLEM_TYPE: Final = "application/problem+json"

MAX_PLACE: Final = 500
"""Characters; likewise below. Names in a request may be as long as the request."""
MAX_MESSAGE: Final = 1_500
MAX_DETAIL: Final = 20_000

_OUR_WORDS: Final = {
    "extra_forbidden": "is not a field that is known here",
    "missing": "is required",
    "tuple_type": "should be a list",
    "dict_type": "should be an object",
}


class ProblemEntry(Wire):
    path: str
    message: str


class ProblemDetails(Wire):
    title: str
    status: int
    detail: str
    problems: tuple[ProblemEntry, ...] = ()


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
    """Pydantic's errors in our words; the leading `body` or `query` of a request is left out."""
    problems = [_problem(error) for error in errors]
    return list(not_too_many(problems))


def _problem(error: Mapping[str, Any]) -> Problem:
    if error["type"] == "json_invalid":
        return Problem((), f"the body is not JSON: {error['ctx']['error'].lower()}")
    return Problem(_place(error["loc"]), _sentence(error))


def _place(location: tuple[str | int, ...]) -> tuple[str | int, ...]:
    return location[1:] if location and location[0] in {"body", "query", "path"} else location


def _sentence(error: Mapping[str, Any]) -> str:
    if error["type"] in _OUR_WORDS:
        return _OUR_WORDS[error["type"]]
    message = str(error["msg"]).removeprefix("Value error, ")
    return message[0].lower() + message[1:]
