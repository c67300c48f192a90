"""Every store of every port, in memory or in a cloud. Queues have `queues/backends.py`."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from switchyard.adapters.dynamodb.access.api_keys import DynamoDbApiKeys
from switchyard.adapters.dynamodb.access.limits import DynamoDbOpenTasks, DynamoDbRequestRates
from switchyard.adapters.dynamodb.access.tenants import DynamoDbTenantStore
from switchyard.adapters.dynamodb.alert_store import DynamoDbAlertStore
from switchyard.adapters.dynamodb.cancellation import DynamoDbCancelling
from switchyard.adapters.dynamodb.counters import DynamoDbCounters, DynamoDbPublishedMinutes
from switchyard.adapters.dynamodb.definition_store import DynamoDbDefinitionStore
from switchyard.adapters.dynamodb.event_log import DynamoDbEventLog, DynamoDbEventReader
from switchyard.adapters.dynamodb.job_intake import DynamoDbJobIntake
from switchyard.adapters.dynamodb.job_store import DynamoDbJobStore
from switchyard.adapters.dynamodb.overdue import DynamoDbOverdue, DynamoDbUnsettled
from switchyard.adapters.dynamodb.payloads import DynamoDbPayloads
from switchyard.adapters.dynamodb.presence import (
    DynamoDbPauseSwitch,
    DynamoDbPresence,
    DynamoDbSubscriptionStore,
)
from switchyard.adapters.dynamodb.redrives import DynamoDbRedriving
from switchyard.adapters.dynamodb.scheduling.ready_index import DynamoDbReadyIndex
from switchyard.adapters.dynamodb.scheduling.start_limits import DynamoDbStartLimits
from switchyard.adapters.dynamodb.scheduling.tenant_clocks import DynamoDbTenantClocks
from switchyard.adapters.dynamodb.submission_keys import DynamoDbSubmissionKeys
from switchyard.adapters.dynamodb.table import DynamoDbTable
from switchyard.adapters.dynamodb.task_additions import DynamoDbTaskAdditions, DynamoDbTaskAdoption
from switchyard.adapters.dynamodb.task_graph import DynamoDbFanOuts, DynamoDbTaskGraph
from switchyard.adapters.dynamodb.task_leases import DynamoDbTaskLeases
from switchyard.adapters.dynamodb.values import deserialized, serialized
from switchyard.adapters.eventbridge import EventOverflow
from switchyard.adapters.s3 import S3BlobStore
from switchyard.ports import (
    ApiKeys,
    BlobStore,
    Cancelling,
    Clock,
    Counters,
    DefinitionStore,
    EventReader,
    FanOuts,
    JobIntake,
    JobStore,
    OpenTasks,
    Overdue,
    PauseSwitch,
    Payloads,
    Presence,
    PublishedMinutes,
    ReadyIndex,
    Redriving,
    RequestRates,
    StartLimits,
    SubmissionKeys,
    SubscriptionStore,
    TaskAdditions,
    TaskAdoption,
    TaskGraph,
    TaskLeases,
    TenantClocks,
    TenantStore,
    Unsettled,
)
from switchyard.ports.alerting import AlertStore
from switchyard.testing import ManualClock, MemoryHarness
from switchyard.testing.alerts import MemoryAlertStore
from switchyard.testing.presence import MemorySubscriptionStore
from tests.contract.clouds import Cloud
from tests.fakes.tables import BUCKET, a_table, events_table, state_table


@dataclass
class Backend:
    intake: JobIntake
    jobs: JobStore
    leases: TaskLeases
    graph: TaskGraph
    ready: ReadyIndex
    clocks: TenantClocks
    limits: StartLimits
    fan_outs: FanOuts
    overdue: Overdue
    unsettled: Unsettled
    payloads: Payloads
    definitions: DefinitionStore
    keys: ApiKeys
    tenants: TenantStore
    open_tasks: OpenTasks
    alerts: AlertStore
    rates: RequestRates
    pause_switch: PauseSwitch
    presence: Presence
    subscriptions: SubscriptionStore
    counters: Counters
    published: PublishedMinutes
    submission_keys: SubmissionKeys
    log: Any
    reader: EventReader
    blobs: BlobStore
    adoption: TaskAdoption
    additions: TaskAdditions
    cancelling: Cancelling
    redriving: Redriving
    stored_events: Callable[[], list[dict[str, Any]]]
    append_many: Callable[[Sequence[dict[str, Any]]], None]
    """Store events as `log.append` does if they have no free-form parts, but in batches."""
    clock: Clock


def in_memory() -> Backend:
    clock = ManualClock()
    harness = MemoryHarness(clock)
    return Backend(
        intake=harness.intake,
        jobs=harness.jobs,
        leases=harness.leases,
        graph=harness.graph,
        **_scheduling_in_memory(harness),
        fan_outs=harness.fan_outs,
        overdue=harness.overdue,
        unsettled=harness.unsettled,
        payloads=harness.payloads,
        definitions=harness.definitions,
        keys=harness.keys,
        tenants=harness.tenants,
        open_tasks=harness.open_tasks,
        alerts=MemoryAlertStore(),
        rates=harness.rates,
        pause_switch=harness.pause_switch,
        presence=harness.presence,
        subscriptions=MemorySubscriptionStore(),
        counters=harness.counters,
        published=harness.published,
        submission_keys=harness.submission_keys,
        log=harness.log,
        reader=harness.reader,
        blobs=harness.blobs,
        adoption=harness.adoption,
        additions=harness.additions,
        cancelling=harness.cancelling,
        redriving=harness.redriving,
        stored_events=lambda: list(harness.log.records.values()),
        append_many=partial(_append_each, harness.log),
        clock=clock,
    )


def _append_each(log: Any, records: Sequence[dict[str, Any]]) -> None:
    for record in records:
        log.append(record)


def in_the_cloud(cloud: Cloud) -> Backend:
    """Create tables and a bucket that no other test sees."""
    dynamodb = cloud.client("dynamodb")
    state = cloud.table(state_table(dynamodb, cloud.fresh("state")))
    events = cloud.table(events_table(dynamodb, cloud.fresh("events")))
    definitions = cloud.table(a_table(dynamodb, cloud.fresh("definitions")))
    blobs = a_bucket(cloud)
    payloads = DynamoDbPayloads(state, blobs)
    return Backend(
        intake=DynamoDbJobIntake(state, payloads),
        jobs=DynamoDbJobStore(state),
        leases=DynamoDbTaskLeases(state),
        graph=DynamoDbTaskGraph(state),
        **_scheduling(state),
        fan_outs=DynamoDbFanOuts(state, payloads),
        overdue=DynamoDbOverdue(state),
        unsettled=DynamoDbUnsettled(state),
        payloads=payloads,
        definitions=DynamoDbDefinitionStore(definitions),
        keys=DynamoDbApiKeys(cloud.table(a_table(dynamodb, cloud.fresh("api-keys")))),
        tenants=DynamoDbTenantStore(state),
        open_tasks=DynamoDbOpenTasks(state),
        alerts=DynamoDbAlertStore(state),
        rates=DynamoDbRequestRates(state),
        counters=DynamoDbCounters(state),
        published=DynamoDbPublishedMinutes(state),
        submission_keys=DynamoDbSubmissionKeys(state),
        log=DynamoDbEventLog(events),
        reader=DynamoDbEventReader(events, EventOverflow(blobs, BUCKET)),
        blobs=blobs,
        adoption=DynamoDbTaskAdoption(state, payloads),
        additions=DynamoDbTaskAdditions(state, payloads),
        cancelling=DynamoDbCancelling(state),
        redriving=DynamoDbRedriving(state, payloads),
        stored_events=lambda: _scanned(dynamodb, events.name),
        append_many=lambda records: _put_in_batches(dynamodb, events.name, records),
        clock=cloud.clock,
    )


def _scheduling_in_memory(harness: MemoryHarness) -> dict[str, Any]:
    return {"ready": harness.ready, "clocks": harness.clocks, "limits": harness.limits}


def _scheduling(state: DynamoDbTable) -> dict[str, Any]:
    return {
        "pause_switch": DynamoDbPauseSwitch(state),
        "presence": DynamoDbPresence(state),
        "subscriptions": DynamoDbSubscriptionStore(state),
        "ready": DynamoDbReadyIndex(state),
        "clocks": DynamoDbTenantClocks(state),
        "limits": DynamoDbStartLimits(state),
    }


def a_bucket(cloud: Cloud) -> S3BlobStore:
    s3, name = cloud.client("s3"), cloud.fresh(BUCKET)
    elsewhere = {"CreateBucketConfiguration": {"LocationConstraint": cloud.region}}
    s3.create_bucket(Bucket=name, **({} if cloud.region == "us-east-1" else elsewhere))
    return S3BlobStore(s3, name)


def _scanned(dynamodb: Any, table: str) -> list[Any]:
    return [deserialized(item) for item in dynamodb.scan(TableName=table)["Items"]]


def _put_in_batches(dynamodb: Any, table: str, records: Sequence[dict[str, Any]]) -> None:
    for start in range(0, len(records), 25):
        puts = [{"PutRequest": {"Item": serialized(r)}} for r in records[start : start + 25]]
        dynamodb.batch_write_item(RequestItems={table: puts})
