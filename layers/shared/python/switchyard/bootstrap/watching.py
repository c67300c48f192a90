"""The function that looks at what may have gone wrong, and what wakes it again."""

from switchyard.adapters import aws
from switchyard.adapters.cloudwatch_alarms import CloudWatchAlarms
from switchyard.adapters.dynamodb.job_store import DynamoDbJobStore
from switchyard.adapters.dynamodb.table import DynamoDbTable
from switchyard.adapters.dynamodb.task_graph import DynamoDbTaskGraph
from switchyard.adapters.s3 import S3BlobStore
from switchyard.bootstrap.alerting import teller
from switchyard.bootstrap.escalating import escalator
from switchyard.settings import ReportIncidentsSettings
from switchyard.usecases.alerts.lookout import Lookout
from switchyard.usecases.alerts.watch_letters import LettersWatch
from switchyard.usecases.alerts.watch_subject import SubjectWatch


def lookout(settings: ReportIncidentsSettings) -> Lookout:
    watch = subject_watch(settings)
    return Lookout(watch=watch, clock=watch.teller.clock)


def subject_watch(settings: ReportIncidentsSettings) -> SubjectWatch:
    state = DynamoDbTable(aws.client("dynamodb"), settings.state_table_name)
    blobs = S3BlobStore(aws.client("s3"), settings.s3_bucket)
    tells = teller(settings)
    return SubjectWatch(
        teller=tells,
        escalator=escalator(settings, tells),
        jobs=DynamoDbJobStore(state),
        tasks=DynamoDbTaskGraph(state),
        letters=LettersWatch(blobs=blobs, stage=settings.stage),
        alarms=CloudWatchAlarms(aws.client("cloudwatch")),
        stage=settings.stage,
    )
