"""Wires the function that answers presses of buttons in Slack."""

from typing import Final
from urllib.parse import urlsplit

from switchyard.adapters import aws
from switchyard.adapters.dynamodb.once import DynamoDbOnce
from switchyard.adapters.dynamodb.table import DynamoDbTable
from switchyard.adapters.dynamodb.tenants import DynamoDbTenantStore
from switchyard.adapters.s3 import S3BlobStore
from switchyard.adapters.secrets_manager import SecretsManagerSecrets
from switchyard.adapters.slack.interactions import Answer, SlackInteractions
from switchyard.adapters.slack.requests import SlackRequest
from switchyard.adapters.sqs_dispatch import SqsDispatchQueue
from switchyard.adapters.webhooks import HttpWebhooks
from switchyard.bootstrap.alerting import alert_publisher
from switchyard.bootstrap.changing import cancel_requests, redrive_requests
from switchyard.bootstrap.wiring import emitter_for
from switchyard.settings import AnswerSlackSettings
from switchyard.usecases.alerts.press_button import ButtonPresses

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
        once=DynamoDbOnce(state),
        presses=ButtonPresses(
            redrives=redrive_requests(state, blobs, dispatches),
            cancels=cancel_requests(state, dispatches, emitter),
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
