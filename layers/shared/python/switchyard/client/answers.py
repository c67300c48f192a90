"""Turns an answer that is not a success into the client's error."""

from __future__ import annotations

from http import HTTPStatus
from math import inf
from typing import TYPE_CHECKING, NamedTuple

from switchyard.client.errors import (
    PAUSE_SECONDS,
    ClientError,
    KeyRefused,
    NotConnected,
    NotFound,
    Refused,
    RefusedForNow,
    TooManyRequests,
    Unreachable,
    sentence,
)
from switchyard.domain.errors import Problem

if TYPE_CHECKING:
    from collections.abc import Mapping

    from switchyard.contracts.problems import ProblemDetails, ProblemEntry


class Answer(NamedTuple):
    status: int
    reason: str
    headers: Mapping[str, str]
    """Maps the names of headers, in lower case, to their values."""
    content: bytes

    @property
    def is_success(self) -> bool:
        return HTTPStatus.OK <= self.status < HTTPStatus.MULTIPLE_CHOICES

    @property
    def is_client_error(self) -> bool:
        return _is_client_error(self.status)


def not_connected(error: Exception, url: str) -> NotConnected:
    return NotConnected(f"{url} cannot be reached: {sentence(error)}")


def too_late(url: str) -> Unreachable:
    return Unreachable(f"{url} did not answer in time; try again.")


def cut_off(error: Exception, url: str) -> Unreachable:
    """Report an answer that did not come whole, though the request may have been carried out."""
    return Unreachable(f"{url} cannot be reached: {sentence(error)}")


def not_listening(url: str) -> NotConnected:
    """Report an address of this machine at which nothing ever answered: waiting does not help."""
    said = f"Nothing listens at {url}: start the local cloud with `switchyard up`, then try again."
    return NotConnected(said, pause_seconds=inf)


def strange_answer(url: str) -> Unreachable:
    return Unreachable(
        f"{url} answered, but not as a Switchyard API does. "
        "Is the URL right, and is this Switchyard as new as that one?"
    )


def refusal(answer: Answer) -> ClientError:
    status = answer.status
    if status in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN):
        return KeyRefused("The API refused the key.")
    details = _details(answer)
    reason = sentence(details.detail)
    if status == HTTPStatus.TOO_MANY_REQUESTS:
        said = f"The API could not answer ({status}): {reason}"
        return TooManyRequests(said, pause_seconds=_pause_seconds(answer))
    if not answer.is_client_error:
        return Unreachable(f"The API could not answer ({status}): {reason}")
    if status == HTTPStatus.CONFLICT and "retry-after" in answer.headers:
        said = f"The API refused: {reason}"
        return RefusedForNow(said, pause_seconds=_pause_seconds(answer))
    problems = [_problem(entry) for entry in details.problems]
    kind = NotFound if status == HTTPStatus.NOT_FOUND else Refused
    return kind("The API refused:" if problems else f"The API refused: {reason}", problems)


def gone(status: int) -> ClientError:
    """Return the error of a link that did not work; the bucket's answer has no text of ours."""
    if _is_client_error(status):
        return NotFound(f"The link has expired, or nothing is there any more ({status}).")
    return Unreachable(f"The bucket could not answer ({status}).")


def not_taken(status: int) -> ClientError:
    """Report an upload that the bucket did not take."""
    if _is_client_error(status):
        reason = "the file changed while it was sent, or the link has expired; submit it again"
        return Refused(f"The bucket refused the file ({status}): {reason}.")
    return Unreachable(f"The bucket could not answer ({status}).")


def _is_client_error(status: int) -> bool:
    return HTTPStatus.BAD_REQUEST <= status < HTTPStatus.INTERNAL_SERVER_ERROR


def _pause_seconds(answer: Answer) -> float:
    reported = answer.headers.get("retry-after", "")
    return float(reported) if reported.isdecimal() else PAUSE_SECONDS


def _details(answer: Answer) -> ProblemDetails:
    from pydantic import ValidationError

    from switchyard.contracts.problems import ProblemDetails

    try:
        return ProblemDetails.model_validate_json(answer.content, extra="ignore")
    except ValidationError:  # a gateway in between answered, not our API
        reason = answer.reason or "no reason given"
        return ProblemDetails(title=reason, status=answer.status, detail=reason)


def _problem(entry: ProblemEntry) -> Problem:
    parts = entry.path.split(".") if entry.path else []
    return Problem(tuple(int(part) if part.isdecimal() else part for part in parts), entry.message)
