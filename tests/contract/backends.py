"""Every adapter of every port, over memory or over a cloud."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from switchyard.adapters.dynamodb.alert_store import DynamoDbAlertStore
from switchyard.adapters.dynamodb.api_keys import DynamoDbApiKeys
from switchyard.adapters.dynamodb.cancelling import DynamoDbCancelling
from switchyard.adapters.dynamodb.consumption import DynamoDbConsumption
from switchyard.adapters.dynamodb.counters import DynamoDbCounters, DynamoDbPublishedMinutes
from switchyard.adapters.dynamodb.definition_store import DynamoDbDefinitionStore
from switchyard.adapters.dynamodb.event_log import DynamoDbEventLog, DynamoDbEventReader
from switchyard.adapters.dynamodb.job_intake import DynamoDbJobIntake
from switchyard.adapters.dynamodb.job_store import DynamoDbJobStore
from switchyard.adapters.dynamodb.open_tasks import DynamoDbOpenTasks
from switchyard.adapters.dynamodb.overdue import DynamoDbOverdue
from switchyard.adapters.dynamodb.payloads import DynamoDbPayloads
from switchyard.adapters.dynamodb.presence import DynamoDbPresence
from switchyard.adapters.dynamodb.redriving import DynamoDbRedriving
from switchyard.adapters.dynamodb.request_rates import DynamoDbRequestRates
from switchyard.adapters.dynamodb.submission_keys import DynamoDbSubmissionKeys
from switchyard.adapters.dynamodb.task_additions import DynamoDbTaskAdditions
from switchyard.adapters.dynamodb.task_adoption import DynamoDbTaskAdoption
from switchyard.adapters.dynamodb.task_graph import DynamoDbTaskGraph
from switchyard.adapters.dynamodb.task_leases import DynamoDbTaskLeases
from switchyard.adapters.dynamodb.tenants import DynamoDbTenantStore
from switchyard.adapters.dynamodb.unsettled import DynamoDbUnsettled
from switchyard.adapters.dynamodb.values import deserialized, serialized
from switchyard.adapters.event_overflow import EventOverflow
from switchyard.adapters.memory import ManualClock, MemoryYard
from switchyard.adapters.memory.alerts import MemoryAlertStore
from switchyard.adapters.memory.transport import MemoryMail, MemoryQueueDepths
from switchyard.adapters.s3 import S3BlobStore
from switchyard.adapters.sqs import SqsTaskQueue
from switchyard.adapters.sqs_depths import SqsQueueDepths
from switchyard.adapters.sqs_mail import SqsMail
from switchyard.ports import (
    ApiKeys,
    BlobStore,
    Cancelling,
    Clock,
    Consumption,
    Counters,
    DefinitionStore,
    EventReader,
    JobIntake,
    JobStore,
    Mail,
    OpenTasks,
    Overdue,
    Payloads,
    Presence,
    PublishedMinutes,
    QueueDepths,
    Redriving,
    RequestRates,
    SubmissionKeys,
    TaskAdditions,
    TaskAdoption,
    TaskGraph,
    TaskLeases,
    TenantStore,
    Unsettled,
)
from switchyard.ports.alerting import AlertStore
from tests.contract.clouds import Cloud
from tests.fakes.tables import BUCKET, a_table, events_table, state_table


@dataclass
class Backend:
    intake: JobIntake
    jobs: JobStore
    leases: TaskLeases
    graph: TaskGraph
    overdue: Overdue
    unsettled: Unsettled
    payloads: Payloads
    definitions: DefinitionStore
    keys: ApiKeys
    tenants: TenantStore
    open_tasks: OpenTasks
    alerts: AlertStore
    rates: RequestRates
    consumption: Consumption
    presence: Presence
    counters: Counters
    published: PublishedMinutes
    submission_keys: SubmissionKeys
    log: Any
    reader: EventReader
    blobs: BlobStore
    queue: Any
    depths: QueueDepths
    queue_url: str
    mail: Mail
    queue_name: str
    """How the mail calls the queue."""
    adoption: TaskAdoption
    additions: TaskAdditions
    cancelling: Cancelling
    redriving: Redriving
    kept_events: Callable[[], list[dict[str, Any]]]
    keep_many: Callable[[Sequence[dict[str, Any]]], None]
    """As `log.append` keeps each that says nothing free-form, but in batches."""
    clock: Clock
    """The queue's."""
    accepts_stale_receipts: bool


def in_memory() -> Backend:
    clock = ManualClock()
    yard = MemoryYard(clock)

    def keep_many(records: Sequence[dict[str, Any]]) -> None:
        for record in records:
            yard.log.append(record)

    return Backend(
        intake=yard.intake,
        jobs=yard.jobs,
        leases=yard.leases,
        graph=yard.graph,
        overdue=yard.overdue,
        unsettled=yard.unsettled,
        payloads=yard.payloads,
        definitions=yard.definitions,
        keys=yard.keys,
        tenants=yard.tenants,
        open_tasks=yard.open_tasks,
        alerts=MemoryAlertStore(),
        rates=yard.rates,
        consumption=yard.consumption,
        presence=yard.presence,
        counters=yard.counters,
        published=yard.published,
        submission_keys=yard.submission_keys,
        log=yard.log,
        reader=yard.reader,
        blobs=yard.blobs,
        queue=yard.queue,
        depths=MemoryQueueDepths({"tasks": yard.queue}),
        queue_url="tasks",
        mail=MemoryMail({"tasks": yard.queue}),
        queue_name="tasks",
        adoption=yard.adoption,
        additions=yard.additions,
        cancelling=yard.cancelling,
        redriving=yard.redriving,
        kept_events=lambda: list(yard.log.records.values()),
        keep_many=keep_many,
        clock=clock,
        accepts_stale_receipts=False,
    )


def in_the_cloud(cloud: Cloud) -> Backend:
    """With tables, a bucket and a queue that no other test sees."""
    dynamodb, sqs = cloud.client("dynamodb"), cloud.client("sqs")
    state = cloud.table(state_table(dynamodb, cloud.fresh("state")))
    events = cloud.table(events_table(dynamodb, cloud.fresh("events")))
    definitions = cloud.table(a_table(dynamodb, cloud.fresh("definitions")))
    blobs = a_bucket(cloud)
    payloads = DynamoDbPayloads(state, blobs)
    queue_name = cloud.fresh("tasks")
    queue_url = sqs.create_queue(QueueName=queue_name)["QueueUrl"]
    return Backend(
        intake=DynamoDbJobIntake(state, payloads),
        jobs=DynamoDbJobStore(state),
        leases=DynamoDbTaskLeases(state),
        graph=DynamoDbTaskGraph(state),
        overdue=DynamoDbOverdue(state),
        unsettled=DynamoDbUnsettled(state),
        payloads=payloads,
        definitions=DynamoDbDefinitionStore(definitions),
        keys=DynamoDbApiKeys(cloud.table(a_table(dynamodb, cloud.fresh("api-keys")))),
        tenants=DynamoDbTenantStore(state),
        open_tasks=DynamoDbOpenTasks(state),
        alerts=DynamoDbAlertStore(state),
        rates=DynamoDbRequestRates(state),
        consumption=DynamoDbConsumption(state),
        presence=DynamoDbPresence(state),
        counters=DynamoDbCounters(state),
        published=DynamoDbPublishedMinutes(state),
        submission_keys=DynamoDbSubmissionKeys(state),
        log=DynamoDbEventLog(events),
        reader=DynamoDbEventReader(events, EventOverflow(blobs, BUCKET)),
        blobs=blobs,
        queue=SqsTaskQueue(sqs, queue_url),
        depths=SqsQueueDepths(sqs),
        queue_url=queue_url,
        mail=SqsMail(sqs),
        queue_name=queue_name,
        adoption=DynamoDbTaskAdoption(state, payloads),
        additions=DynamoDbTaskAdditions(state, payloads),
        cancelling=DynamoDbCancelling(state),
        redriving=DynamoDbRedriving(state, payloads),
        kept_events=lambda: [
            deserialized(item) for item in dynamodb.scan(TableName=events.name)["Items"]
        ],
        keep_many=lambda records: _put_in_batches(dynamodb, events.name, records),
        clock=cloud.clock,
        accepts_stale_receipts=cloud.accepts_stale_receipts,
    )


def a_bucket(cloud: Cloud) -> S3BlobStore:
    s3, name = cloud.client("s3"), cloud.fresh(BUCKET)
    elsewhere = {"CreateBucketConfiguration": {"LocationConstraint": cloud.region}}
    s3.create_bucket(Bucket=name, **({} if cloud.region == "us-east-1" else elsewhere))
    return S3BlobStore(s3, name)


def _put_in_batches(dynamodb: Any, table: str, records: Sequence[dict[str, Any]]) -> None:
    for start in range(0, len(records), 25):
        puts = [{"PutRequest": {"Item": serialized(r)}} for r in records[start : start + 25]]
        dynamodb.batch_write_item(RequestItems={table: puts})
