"""Whoever answers what is pressed in Slack."""

from typing import Final
from urllib.parse import urlsplit

from switchyard.adapters import aws
from switchyard.adapters.dynamodb.once import DynamoDbOnce
from switchyard.adapters.dynamodb.table import DynamoDbTable
from switchyard.adapters.dynamodb.tenants import DynamoDbTenantStore
from switchyard.adapters.s3 import S3BlobStore
from switchyard.adapters.secrets_manager import SecretsManagerSecrets
from switchyard.adapters.sqs_dispatch import SqsDispatchQueue
from switchyard.adapters.webhooks import HttpWebhooks
from switchyard.bootstrap.alerting import teller
from switchyard.bootstrap.changing import cancel_requests, redrive_requests
from switchyard.bootstrap.wiring import emitter_for
from switchyard.settings import AnswerSlackSettings
from switchyard.usecases.alerts.answer_slack import SlackDesk
from switchyard.usecases.alerts.press_button import Buttons
from switchyard.usecases.alerts.thread_notes import ThreadNotes

SLACKS_REPLIES: Final = "https://hooks.slack.com/"
REPLY_SECONDS: Final = 1.5  # whoever pressed waits for three seconds, all in all


def slack_desk(settings: AnswerSlackSettings) -> SlackDesk:
    state = DynamoDbTable(aws.client("dynamodb"), settings.state_table_name)
    blobs = S3BlobStore(aws.client("s3"), settings.s3_bucket)
    dispatches = SqsDispatchQueue(
        aws.client("sqs"), settings.dispatch_queue_url, settings.job_queue_url
    )
    emitter, told_by = emitter_for(settings, origin="slack"), teller(settings)
    return SlackDesk(
        secrets=SecretsManagerSecrets(aws.client("secretsmanager"), clock=told_by.clock),
        secret_name=settings.slack_secret,
        once=DynamoDbOnce(state),
        buttons=Buttons(
            redrives=redrive_requests(state, blobs, dispatches),
            cancels=cancel_requests(state, dispatches, emitter),
        ),
        operators=settings.operators,
        tenants=DynamoDbTenantStore(state),
        notes=ThreadNotes(book=told_by.book, door=told_by.door),
        replies=HttpWebhooks(nearby_allowed=bool(settings.slack_url), seconds=REPLY_SECONDS),
        replies_to=_origin(settings.slack_url) or SLACKS_REPLIES,
        clock=told_by.clock,
    )


def _origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}/" if url else ""
