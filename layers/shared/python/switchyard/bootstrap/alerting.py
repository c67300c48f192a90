"""Whoever tells people of incidents."""

from switchyard.adapters import aws
from switchyard.adapters.aws_time import function_clock
from switchyard.adapters.dynamodb.alert_book import DynamoDbAlertBook
from switchyard.adapters.dynamodb.table import DynamoDbTable
from switchyard.adapters.secrets_manager import SecretsManagerSecrets
from switchyard.adapters.slack import SlackDoor
from switchyard.settings import AlertingSettings
from switchyard.usecases.alerts.tell_incident import Teller


def teller(settings: AlertingSettings) -> Teller:
    clock = function_clock()
    return Teller(
        book=alert_book(settings.state_table_name),
        door=SlackDoor(
            secrets=SecretsManagerSecrets(aws.client("secretsmanager"), clock=clock),
            secret_name=settings.slack_secret,
            url=settings.slack_url,
            clock=clock,
        ),
        channel=settings.slack_channel,
        clock=clock,
    )


def alert_book(state_table_name: str) -> DynamoDbAlertBook:
    return DynamoDbAlertBook(DynamoDbTable(aws.client("dynamodb"), state_table_name))
