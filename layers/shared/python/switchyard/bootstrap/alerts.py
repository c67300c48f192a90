"""Wires alerts: what publishes them, what reports incidents, and what answers Slack's buttons."""

from typing import Final
from urllib.parse import urlsplit

from switchyard.adapters import aws
from switchyard.adapters.aws_time import function_clock
from switchyard.adapters.cloudwatch_alarms import CloudWatchAlarms
from switchyard.adapters.dynamodb.access.tenants import DynamoDbTenantStore
from switchyard.adapters.dynamodb.alert_store import DynamoDbAlertStore
from switchyard.adapters.dynamodb.job_store import DynamoDbJobStore
from switchyard.adapters.dynamodb.submission_keys import DynamoDbDeduplication
from switchyard.adapters.dynamodb.table import DynamoDbTable
from switchyard.adapters.dynamodb.task_graph import DynamoDbTaskGraph
from switchyard.adapters.s3 import S3BlobStore
from switchyard.adapters.secrets_manager import SecretsManagerSecrets
from switchyard.adapters.slack.chat import SlackConnector
from switchyard.adapters.slack.interactions import Answer, SlackInteractions
from switchyard.adapters.slack.requests import SlackRequest
from switchyard.adapters.sqs import SqsDispatchQueue, SqsQueueSender
from switchyard.adapters.webhooks import HttpWebhooks
from switchyard.bootstrap.job_requests import (
    cancel_requests,
    held_task_reader,
    redrive_requests,
    task_decider,
)
from switchyard.bootstrap.wiring import emitter_for
from switchyard.domain.alerts.alerts import PublishResult
from switchyard.domain.alerts.incidents import Incident
from switchyard.observability import get_logger
from switchyard.settings import (
    AlertingSettings,
    AnswerSlackSettings,
    ReportIncidentsSettings,
    SweeperSettings,
)
from switchyard.usecases.alerts.escalate import Escalator
from switchyard.usecases.alerts.post_alerts import AlertPublisher
from switchyard.usecases.alerts.press_button import ButtonPresses
from switchyard.usecases.alerts.read_dead_letters import DeadLetterReader
from switchyard.usecases.alerts.report_incidents import DueAlerts, IncidentReporter, SubjectChecker


def alert_publisher(settings: AlertingSettings) -> AlertPublisher:
    clock = function_clock()
    return AlertPublisher(
        store=_alert_store(settings.state_table_name),
        chats=SlackConnector(
            secrets=SecretsManagerSecrets(aws.client("secretsmanager"), clock=clock),
            secret_name=settings.slack_secret,
            url=settings.slack_url,
            clock=clock,
        ),
        channel=settings.slack_channel,
        clock=clock,
    )


def due_alerts(settings: SweeperSettings) -> DueAlerts:
    """A queue's URL ends in its name."""
    return DueAlerts(
        store=_alert_store(settings.state_table_name),
        queue_sender=SqsQueueSender(aws.client("sqs")),
        queue=settings.alerts_queue_url.rpartition("/")[2],
        clock=function_clock(),
    )


def _alert_store(state_table_name: str) -> DynamoDbAlertStore:
    return DynamoDbAlertStore(DynamoDbTable(aws.client("dynamodb"), state_table_name))


def incident_reporter(settings: ReportIncidentsSettings) -> IncidentReporter:
    state = DynamoDbTable(aws.client("dynamodb"), settings.state_table_name)
    blobs = S3BlobStore(aws.client("s3"), settings.s3_bucket)
    alerts = alert_publisher(settings)
    checker = SubjectChecker(
        alerts=alerts,
        escalator=_escalator(settings, state, alerts),
        jobs=DynamoDbJobStore(state),
        tasks=DynamoDbTaskGraph(state),
        held=held_task_reader(state, blobs),
        dead_letters=DeadLetterReader(blobs=blobs, stage=settings.stage),
        alarms=CloudWatchAlarms(aws.client("cloudwatch")),
        stage=settings.stage,
    )
    return IncidentReporter(checker=checker, clock=alerts.clock)


def _escalator(
    settings: ReportIncidentsSettings, state: DynamoDbTable, alerts: AlertPublisher
) -> Escalator:
    return Escalator(
        alerts=alerts,
        tenants=DynamoDbTenantStore(state),
        store=alerts.store,
        webhooks=HttpWebhooks(nearby_allowed=settings.webhooks_may_reach_private),
        secrets=SecretsManagerSecrets(aws.client("secretsmanager"), clock=alerts.clock),
        secret_name=settings.webhooks_secret,
        log=_log,
        clock=alerts.clock,
    )


def _log(incident: Incident, result: PublishResult) -> None:
    fields = {
        "subject": str(incident.subject),
        "status": result.status.value,
        "reason": result.reason,
    }
    if result.status.failed:
        get_logger().warning("the job's channel or webhook was not notified", extra=fields)
    else:
        get_logger().info("escalated", extra=fields)


__all__ = ["Answer", "SlackInteractions", "SlackRequest", "slack_interactions"]

SLACK_REPLIES: Final = "https://hooks.slack.com/"
REPLY_SECONDS: Final = 1.5  # Slack shows an error to the user after three seconds in total


def slack_interactions(settings: AnswerSlackSettings) -> SlackInteractions:
    state = DynamoDbTable(aws.client("dynamodb"), settings.state_table_name)
    blobs = S3BlobStore(aws.client("s3"), settings.s3_bucket)
    dispatches = SqsDispatchQueue(
        aws.client("sqs"), settings.dispatch_queue_url, settings.job_queue_url
    )
    emitter, alerts = emitter_for(settings, origin="slack"), alert_publisher(settings)
    return SlackInteractions(
        secrets=SecretsManagerSecrets(aws.client("secretsmanager"), clock=alerts.clock),
        secret_name=settings.slack_secret,
        deduplication=DynamoDbDeduplication(state),
        presses=ButtonPresses(
            redrives=redrive_requests(state, blobs, dispatches),
            cancels=cancel_requests(state, dispatches, emitter),
            decider=task_decider(state, blobs, emitter),
            operators=settings.operators,
            tenants=DynamoDbTenantStore(state),
            alerts=alerts,
        ),
        replies=HttpWebhooks(nearby_allowed=bool(settings.slack_url), seconds=REPLY_SECONDS),
        reply_origin=_origin(settings.slack_url) or SLACK_REPLIES,
        clock=alerts.clock,
    )


def _origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}/" if url else ""
