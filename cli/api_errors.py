"""What an answer that is not a success means, and what to do about it."""

from http import HTTPStatus

import httpx
from pydantic import ValidationError

from cli.errors import CliError, Refused, Unreachable
from cli.stages import API_KEY, NOT_RUNNING, Endpoint, Stage
from cli.wording import sentence
from switchyard.contracts.problems import ProblemDetails, ProblemEntry
from switchyard.domain.errors import Problem


def unreachable(error: Exception, endpoint: Endpoint) -> Unreachable:
    if isinstance(error, httpx.ConnectError) and endpoint.stage is Stage.LOCAL:
        return Unreachable(NOT_RUNNING)
    if isinstance(error, httpx.TimeoutException):
        return Unreachable(f"{endpoint.url} did not answer in time; try again.")
    return Unreachable(f"{endpoint.url} cannot be reached: {error}")


def refusal(response: httpx.Response, endpoint: Endpoint) -> CliError:
    status = response.status_code
    if status in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN):
        return Refused(_wrong_key(endpoint))
    details = _details(response)
    reason = sentence(details.detail)
    if response.is_client_error and status != HTTPStatus.TOO_MANY_REQUESTS:
        problems = [_problem(entry) for entry in details.problems]
        return Refused("The API refused:" if problems else f"The API refused: {reason}", problems)
    return Unreachable(f"The API could not answer ({status}): {reason}")


def _wrong_key(endpoint: Endpoint) -> str:
    if endpoint.stage is Stage.LOCAL:
        return "The local cloud refused its key; start it afresh: `switchyard down`, then `up`."
    return f"The API of the stage {endpoint.stage} refused the key; check {API_KEY}."


def _details(response: httpx.Response) -> ProblemDetails:
    try:
        return ProblemDetails.model_validate_json(response.content, extra="ignore")
    except ValidationError:  # a gateway in between answered, not our API
        reason = response.reason_phrase or "no reason given"
        return ProblemDetails(title=reason, status=response.status_code, detail=reason)


def _problem(entry: ProblemEntry) -> Problem:
    parts = entry.path.split(".") if entry.path else []
    return Problem(tuple(int(part) if part.isdecimal() else part for part in parts), entry.message)
