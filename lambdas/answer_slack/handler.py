"""Answers what somebody presses in Slack."""

from functools import cache
from http import HTTPStatus
from typing import Any

from aws_lambda_powertools.logging import correlation_paths
from aws_lambda_powertools.utilities.typing import LambdaContext

from switchyard.bootstrap.answering import slack_desk
from switchyard.contracts.problems import PROBLEM_TYPE, ProblemDetails, title_of
from switchyard.contracts.slack_actions import SlackRequest
from switchyard.observability import MetricUnit, get_logger, get_metrics, get_tracer
from switchyard.settings import AnswerSlackSettings
from switchyard.usecases.alerts.answer_slack import Answered, SlackDesk

logger = get_logger()
metrics = get_metrics()
tracer = get_tracer()


@cache
def desk() -> SlackDesk:
    return slack_desk(AnswerSlackSettings())


@logger.inject_lambda_context(correlation_id_path=correlation_paths.API_GATEWAY_HTTP)
@tracer.capture_lambda_handler(capture_response=False)
@metrics.log_metrics(capture_cold_start_metric=True)
def handler(event: dict[str, Any], _context: LambdaContext) -> dict[str, Any]:
    answered = desk().answer(SlackRequest.of(event))
    logger.info("slack was answered", extra=fields_of(answered))
    if answered.status is not HTTPStatus.OK:
        metrics.add_metric("PressesRefused", MetricUnit.Count, 1)
        return refused(answered.status)
    metrics.add_metric("ButtonsPressed", MetricUnit.Count, int(answered.done))
    return {"statusCode": HTTPStatus.OK, "body": ""}


def refused(status: HTTPStatus) -> dict[str, Any]:
    """Why is in the log: whoever is not Slack learns nothing."""
    body = ProblemDetails(title=title_of(status), status=status, detail="this is for Slack alone")
    return {
        "statusCode": status,
        "headers": {"Content-Type": PROBLEM_TYPE},
        "body": body.model_dump_json(by_alias=True),
    }


def fields_of(answered: Answered) -> dict[str, str | int | None]:
    fields: dict[str, str | int | None] = {
        "status": answered.status,
        "outcome": answered.outcome,
        "not_told": answered.not_told,
    }
    if answered.press is None:
        return fields
    pressed, button = answered.press, answered.press.button
    return fields | {
        "action": button.action,
        "tenant_id": button.tenant,
        "job_id": button.job_id,
        "run": button.run,
        "user_id": pressed.user_id,
        "user_name": pressed.user_name,
    }
