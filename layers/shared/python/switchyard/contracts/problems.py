"""How the API says no: problem details that list every problem with its place."""

from collections.abc import Iterable, Mapping
from typing import Any

from switchyard.contracts.wire import Wire
from switchyard.domain.errors import Problem


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
        ProblemEntry(path=".".join(map(str, problem.path)), message=problem.message)
        for problem in problems
    )


def validation_problems(errors: Iterable[Mapping[str, Any]]) -> list[Problem]:
    """Pydantic's errors in our words; the leading `body` or `query` of a request is left out."""
    return [Problem(_place(error["loc"]), _sentence(error)) for error in errors]


def _place(location: tuple[str | int, ...]) -> tuple[str | int, ...]:
    return location[1:] if location and location[0] in {"body", "query", "path"} else location


def _sentence(error: Mapping[str, Any]) -> str:
    if error["type"] == "extra_forbidden":
        return "is not a field that is known here"
    if error["type"] == "missing":
        return "is required"
    message = str(error["msg"]).removeprefix("Value error, ")
    return message[0].lower() + message[1:]
