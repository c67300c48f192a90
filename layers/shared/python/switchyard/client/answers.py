"""What an answer that is not a success means."""

from __future__ import annotations

from http import HTTPStatus
from math import inf
from typing import TYPE_CHECKING

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
    import httpx

    from switchyard.contracts.problems import ProblemDetails, ProblemEntry


def no_answer(error: Exception, url: str) -> Unreachable:
    import httpx

    if isinstance(error, httpx.ConnectError | httpx.ConnectTimeout | httpx.InvalidURL):
        return NotConnected(f"{url} cannot be reached: {sentence(error)}")
    if isinstance(error, httpx.TimeoutException):
        return Unreachable(f"{url} did not answer in time; try again.")
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


def refusal(response: httpx.Response) -> ClientError:
    status = response.status_code
    if status in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN):
        return KeyRefused("The API refused the key.")
    details = _details(response)
    reason = sentence(details.detail)
    if status == HTTPStatus.TOO_MANY_REQUESTS:
        said = f"The API could not answer ({status}): {reason}"
        return TooManyRequests(said, pause_seconds=_pause_seconds(response))
    if not response.is_client_error:
        return Unreachable(f"The API could not answer ({status}): {reason}")
    if status == HTTPStatus.CONFLICT and "retry-after" in response.headers:
        said = f"The API refused: {reason}"
        return RefusedForNow(said, pause_seconds=_pause_seconds(response))
    problems = [_problem(entry) for entry in details.problems]
    kind = NotFound if status == HTTPStatus.NOT_FOUND else Refused
    return kind("The API refused:" if problems else f"The API refused: {reason}", problems)


def gone(response: httpx.Response) -> ClientError:
    """Of a link: the bucket answers for itself."""
    status = response.status_code
    if response.is_client_error:
        return NotFound(f"The link has expired, or nothing is there any more ({status}).")
    return Unreachable(f"The bucket could not answer ({status}).")


def _pause_seconds(response: httpx.Response) -> float:
    reported = response.headers.get("retry-after", "")
    return float(reported) if reported.isdecimal() else PAUSE_SECONDS


def _details(response: httpx.Response) -> ProblemDetails:
    from pydantic import ValidationError

    from switchyard.contracts.problems import ProblemDetails

    try:
        return ProblemDetails.model_validate_json(response.content, extra="ignore")
    except ValidationError:  # a gateway in between answered, not our API
        reason = response.reason_phrase or "no reason given"
        return ProblemDetails(title=reason, status=response.status_code, detail=reason)


def _problem(entry: ProblemEntry) -> Problem:
    parts = entry.path.split(".") if entry.path else []
    return Problem(tuple(int(part) if part.isdecimal() else part for part in parts), entry.message)
