"""The API's refusals: every error has its status here, once."""

from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any, Final

from aws_lambda_powertools.event_handler import APIGatewayHttpResolver, Response
from aws_lambda_powertools.event_handler.exceptions import NotFoundError
from aws_lambda_powertools.event_handler.openapi.exceptions import RequestValidationError

from switchyard.contracts.problems import (
    MAX_DETAIL,
    PROBLEM_TYPE,
    ProblemDetails,
    beginning,
    entries,
    title_of,
    validation_problems,
)
from switchyard.domain.errors import (
    Conflict,
    Invalid,
    KeyReused,
    NotNow,
    Problem,
    Rejected,
    TooManyRequests,
    Unavailable,
    UnknownDefinition,
    UnknownJob,
    UnknownTask,
)
from switchyard.domain.scheduling.work_queues import UnknownWorkQueue
from switchyard.domain.text import without_control_characters
from switchyard.domain.triggers.triggers import UnknownTrigger
from switchyard.observability import Logger

_STATUSES: Final[Mapping[type[Rejected], HTTPStatus]] = {
    Rejected: HTTPStatus.BAD_REQUEST,
    Conflict: HTTPStatus.CONFLICT,
    KeyReused: HTTPStatus.UNPROCESSABLE_ENTITY,
    TooManyRequests: HTTPStatus.TOO_MANY_REQUESTS,
    UnknownDefinition: HTTPStatus.NOT_FOUND,
    UnknownJob: HTTPStatus.NOT_FOUND,
    UnknownTask: HTTPStatus.NOT_FOUND,
    UnknownTrigger: HTTPStatus.NOT_FOUND,
    UnknownWorkQueue: HTTPStatus.NOT_FOUND,
}
_NOT_NOW_SECONDS: Final = 5
_MAX_LOGGED_PATH: Final = 300


def answer_errors(app: APIGatewayHttpResolver, logger: Logger) -> None:
    """Turn the errors that routes raise into problem details."""

    def refuse_shape(error: RequestValidationError) -> Response[str]:
        problems = validation_problems(error.errors())
        return refusal(HTTPStatus.BAD_REQUEST, "; ".join(map(str, problems)), problems)

    def give_way(error: Unavailable) -> Response[str]:
        logger.error("a dependency did not answer", reason=str(error))
        return refusal(HTTPStatus.SERVICE_UNAVAILABLE, "try again in a moment")

    def no_such_route(_error: NotFoundError) -> Response[str]:
        return refusal(HTTPStatus.NOT_FOUND, f"there is no {app.current_event.path}")

    app.exception_handler(Rejected)(refusal_for)
    app.exception_handler(RequestValidationError)(refuse_shape)
    app.exception_handler(Unavailable)(give_way)
    app.not_found(no_such_route)


def refusal_for(error: Rejected) -> Response[str]:
    status = next(_STATUSES[kind] for kind in type(error).__mro__ if kind in _STATUSES)
    refused = refusal(status, str(error), error.problems if isinstance(error, Invalid) else ())
    match error:
        case NotNow():
            refused.headers["Retry-After"] = str(_NOT_NOW_SECONDS)
        case TooManyRequests():
            refused.headers["Retry-After"] = str(error.retry_after_seconds)
    return refused


def for_gateway(refused: Response[str]) -> dict[str, Any]:
    """Return the refusal as a function answers before it has come as far as a route."""
    return {
        "statusCode": refused.status_code,
        "headers": {"Content-Type": refused.content_type, **refused.headers},
        "body": refused.body,
        "isBase64Encoded": False,
    }


def refusal(status: HTTPStatus, detail: str, problems: Sequence[Problem] = ()) -> Response[str]:
    """Return a refusal that fits into an answer, however long the request is."""
    body = ProblemDetails(
        title=title_of(status),
        status=status,
        detail=beginning(detail, MAX_DETAIL),
        problems=entries(problems),
    )
    return Response(status, PROBLEM_TYPE, body.model_dump_json(by_alias=True))


def log_refusal(logger: Logger, event: Mapping[str, Any], status: int) -> None:
    """Log the tenant, the key and the route, so that attempts to read others' jobs are visible."""
    context = event["requestContext"]
    given = context["authorizer"]["lambda"]
    logger.warning(
        "request is refused",
        tenant=given["tenant"],
        key_id=given["keyId"],
        status=status,
        method=context["http"]["method"],
        path=without_control_characters(context["http"]["path"])[:_MAX_LOGGED_PATH],
    )
