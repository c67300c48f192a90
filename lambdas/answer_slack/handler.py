"""Answers presses of buttons in Slack."""

from functools import cache
from http import HTTPStatus
from typing import Any

from aws_lambda_powertools.logging import correlation_paths
from aws_lambda_powertools.utilities.typing import LambdaContext

from switchyard.bootstrap.alerts import (
    Answer,
    SlackInteractions,
    SlackRequest,
    slack_interactions,
)
from switchyard.contracts.problems import PROBLEM_TYPE, ProblemDetails, title_of
from switchyard.observability import MetricUnit, get_logger, get_metrics, get_tracer
from switchyard.settings import AnswerSlackSettings

logger = get_logger()
metrics = get_metrics()
tracer = get_tracer()


@cache
def interactions() -> SlackInteractions:
    return slack_interactions(AnswerSlackSettings())


@logger.inject_lambda_context(correlation_id_path=correlation_paths.API_GATEWAY_HTTP)
@tracer.capture_lambda_handler(capture_response=False)
@metrics.log_metrics(capture_cold_start_metric=True)
def handler(event: dict[str, Any], _context: LambdaContext) -> dict[str, Any]:
    answer = interactions().answer(SlackRequest.of(event))
    logger.info("slack was answered", extra=fields_of(answer))
    if answer.status is not HTTPStatus.OK:
        metrics.add_metric("PressesRefused", MetricUnit.Count, 1)
        return refused(answer.status)
    metrics.add_metric("ButtonsPressed", MetricUnit.Count, int(answer.done))
    return {"statusCode": HTTPStatus.OK, "body": ""}


def refused(status: HTTPStatus) -> dict[str, Any]:
    """Refuse without a reason: only the log says why a request is not believed to be Slack's."""
    body = ProblemDetails(title=title_of(status), status=status, detail="this is for Slack alone")
    return {
        "statusCode": status,
        "headers": {"Content-Type": PROBLEM_TYPE},
        "body": body.model_dump_json(by_alias=True),
    }


def fields_of(answer: Answer) -> dict[str, str | int | None]:
    fields: dict[str, str | int | None] = {
        "status": answer.status,
        "outcome": answer.outcome,
        "not_posted": answer.not_posted,
    }
    if answer.press is None:
        return fields
    press, button = answer.press, answer.press.button
    return fields | {
        "action": button.action,
        "tenant_id": button.tenant,
        "job_id": button.job_id,
        "run": button.run,
        "user_id": press.user_id,
        "user_name": press.user_name,
    }
