"""Whoever tells those whom jobs name."""

from switchyard.adapters import aws
from switchyard.adapters.dynamodb.table import DynamoDbTable
from switchyard.adapters.dynamodb.tenants import DynamoDbTenantStore
from switchyard.adapters.secrets_manager import SecretsManagerSecrets
from switchyard.adapters.webhooks import HttpWebhooks
from switchyard.domain.alerts.incidents import Incident
from switchyard.observability import get_logger
from switchyard.settings import EscalatorSettings
from switchyard.usecases.alerts.escalate import Escalator
from switchyard.usecases.alerts.tell_alone import Told
from switchyard.usecases.alerts.tell_incident import Teller
from switchyard.usecases.alerts.thread_notes import ThreadNotes


def escalator(settings: EscalatorSettings, told_by: Teller) -> Escalator:
    """Shares the book and the chat with who tells the stage's own people."""
    state = DynamoDbTable(aws.client("dynamodb"), settings.state_table_name)
    return Escalator(
        teller=told_by,
        tenants=DynamoDbTenantStore(state),
        book=told_by.book,
        webhooks=HttpWebhooks(nearby_allowed=settings.webhooks_may_reach_private),
        secrets=SecretsManagerSecrets(aws.client("secretsmanager"), clock=told_by.clock),
        secret_name=settings.webhooks_secret,
        notes=ThreadNotes(book=told_by.book, door=told_by.door),
        report=_report,
        clock=told_by.clock,
    )


def _report(incident: Incident, told: Told) -> None:
    """In the function's own log."""
    said = {"subject": incident.subject, "telling": told.telling.value, "reason": told.reason}
    log = get_logger()
    (log.warning if told.telling.troubled else log.info)("escalated", extra=said)
