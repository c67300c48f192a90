"""Wires the function that checks subjects and reports their incidents."""

from switchyard.adapters import aws
from switchyard.adapters.cloudwatch_alarms import CloudWatchAlarms
from switchyard.adapters.dynamodb.job_store import DynamoDbJobStore
from switchyard.adapters.dynamodb.table import DynamoDbTable
from switchyard.adapters.dynamodb.task_graph import DynamoDbTaskGraph
from switchyard.adapters.dynamodb.tenants import DynamoDbTenantStore
from switchyard.adapters.s3 import S3BlobStore
from switchyard.adapters.secrets_manager import SecretsManagerSecrets
from switchyard.adapters.webhooks import HttpWebhooks
from switchyard.bootstrap.alerting import alert_publisher
from switchyard.domain.alerts.alerts import PublishResult
from switchyard.domain.alerts.incidents import Incident
from switchyard.observability import get_logger
from switchyard.settings import ReportIncidentsSettings
from switchyard.usecases.alerts.escalate import Escalator
from switchyard.usecases.alerts.post_alerts import AlertPublisher
from switchyard.usecases.alerts.read_dead_letters import DeadLetterReader
from switchyard.usecases.alerts.report_incidents import IncidentReporter, SubjectChecker


def incident_reporter(settings: ReportIncidentsSettings) -> IncidentReporter:
    state = DynamoDbTable(aws.client("dynamodb"), settings.state_table_name)
    blobs = S3BlobStore(aws.client("s3"), settings.s3_bucket)
    alerts = alert_publisher(settings)
    checker = SubjectChecker(
        alerts=alerts,
        escalator=_escalator(settings, state, alerts),
        jobs=DynamoDbJobStore(state),
        tasks=DynamoDbTaskGraph(state),
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
    log = get_logger()
    (log.warning if result.status.failed else log.info)("escalated", extra=fields)
