"""Wires what publishes alerts, and what has due alerts published again."""

from switchyard.adapters import aws
from switchyard.adapters.aws_time import function_clock
from switchyard.adapters.dynamodb.alert_store import DynamoDbAlertStore
from switchyard.adapters.dynamodb.table import DynamoDbTable
from switchyard.adapters.secrets_manager import SecretsManagerSecrets
from switchyard.adapters.slack.chat import SlackConnector
from switchyard.adapters.sqs_mail import SqsMail
from switchyard.settings import AlertingSettings, SweeperSettings
from switchyard.usecases.alerts.post_alerts import AlertPublisher
from switchyard.usecases.alerts.report_incidents import DueAlerts


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
        mail=SqsMail(aws.client("sqs")),
        queue=settings.alerts_queue_url.rpartition("/")[2],
        clock=function_clock(),
    )


def _alert_store(state_table_name: str) -> DynamoDbAlertStore:
    return DynamoDbAlertStore(DynamoDbTable(aws.client("dynamodb"), state_table_name))
