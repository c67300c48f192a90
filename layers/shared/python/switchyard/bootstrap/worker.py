"""The worker."""

import os
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import ParamSpec, Protocol, TypeVar

from switchyard.adapters import aws
from switchyard.adapters.aws_time import worker_clock
from switchyard.adapters.dynamodb.payloads import DynamoDbPayloads
from switchyard.adapters.dynamodb.presence import DynamoDbPauseSwitch, DynamoDbPresence
from switchyard.adapters.dynamodb.scheduling.ready_index import DynamoDbReadyIndex
from switchyard.adapters.dynamodb.scheduling.start_limits import DynamoDbStartLimits
from switchyard.adapters.dynamodb.scheduling.tenant_clocks import DynamoDbTenantClocks
from switchyard.adapters.dynamodb.table import DynamoDbTable
from switchyard.adapters.dynamodb.task_additions import DynamoDbTaskAdoption
from switchyard.adapters.dynamodb.task_leases import DynamoDbTaskLeases
from switchyard.adapters.ecs import deployments, scale_in_protection
from switchyard.adapters.s3 import S3BlobStore
from switchyard.adapters.sqs import SqsTaskQueue
from switchyard.adapters.sqs_depths import SqsQueueDepths
from switchyard.adapters.system import (
    SystemIds,
    SystemRandomness,
    ThreadOffload,
    system_sleep,
)
from switchyard.adapters.webhooks import HttpWebProbe
from switchyard.bootstrap.pools import pool_directory, pool_queues
from switchyard.bootstrap.wiring import definition_store, emitter_for, named_queues, parking_for
from switchyard.ports import (
    BlobStore,
    Clock,
    DefinitionStore,
    Deployments,
    PauseSwitch,
    Payloads,
    Presence,
    QueueDepth,
    Randomness,
    ReadyIndex,
    ScaleInProtection,
    SharedClock,
    Sleep,
    StartLimits,
    TaskInbox,
    TaskLeases,
    TaskQueue,
    TenantClocks,
)
from switchyard.ports.web import WebProbe
from switchyard.settings import WorkerSettings
from switchyard.usecases.dead_letters.park_message import MessageParking
from switchyard.usecases.dispatching.adopt_task import Adopter
from switchyard.usecases.events.emitting import Emitter
from switchyard.usecases.scheduling.pool_directory import PoolDirectory, PoolInbox

P = ParamSpec("P")
R = TypeVar("R")

PORT_THREADS_PER_SLOT = 6  # three uploads, a renewal, a heartbeat, one that a cancel left behind
PORT_THREADS_OF_THE_LOOP = 6  # a receive, deletions, presence, protection, its deployment, a sweep


class Offload(Protocol):
    """The one bridge from the event loop to ports, which block."""

    def __call__(self, call: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> Awaitable[R]: ...


@dataclass(frozen=True, kw_only=True)
class WorkerPool:
    """What a worker knows of its pool."""

    directory: PoolDirectory
    own_queue: TaskQueue
    """The queue of its pool alone: other pools have wake-ups of their own."""
    depth: Callable[[], QueueDepth]
    """How full that queue is."""


@dataclass(frozen=True, kw_only=True)
class WorkerPorts:
    clock: SharedClock
    sleep: Sleep
    offload: Offload
    randomness: Randomness
    worker_id: str
    tenant_id: str | None
    """The tenant of other producers' tasks; `None` if none are adopted."""
    leases: TaskLeases
    ready: ReadyIndex
    clocks: TenantClocks
    limits: StartLimits
    payloads: Payloads
    definitions: DefinitionStore
    queue: TaskQueue
    """Wakes every pool that serves a task's group."""
    inbox: TaskInbox
    pause_switch: PauseSwitch
    presence: Presence
    adopter: Adopter
    parking: MessageParking
    blobs: BlobStore
    emitter: Emitter
    protection: ScaleInProtection
    deployments: Deployments
    web: WebProbe
    pool: WorkerPool | None = None
    """`None` on a stage without pools."""


def worker_ports(settings: WorkerSettings) -> WorkerPorts:
    dynamodb = aws.client("dynamodb")
    state = DynamoDbTable(dynamodb, settings.state_table_name)
    own_queue = _own_queue(settings.sqs_queue_url)
    blobs = S3BlobStore(aws.client("s3"), settings.s3_bucket)
    payloads = DynamoDbPayloads(state, blobs)
    definitions = definition_store(dynamodb, settings.task_definitions_table)
    clock = worker_clock()
    pool = _pool(settings, state, own_queue, clock)
    queue = pool_queues(pool.directory, aws.client("sqs")) if pool else own_queue
    worker_id = SystemIds().new_worker_id()
    return WorkerPorts(
        clock=clock,
        sleep=system_sleep,
        offload=_offload(slots=settings.max_concurrent_claude),
        randomness=SystemRandomness(),
        worker_id=worker_id,
        tenant_id=settings.tenant_id,
        leases=DynamoDbTaskLeases(state),
        ready=DynamoDbReadyIndex(state),
        clocks=DynamoDbTenantClocks(state),
        limits=DynamoDbStartLimits(state),
        payloads=payloads,
        definitions=definitions,
        queue=queue,
        inbox=_inbox(settings.pool, pool, own_queue, queue),
        pause_switch=DynamoDbPauseSwitch(state),
        presence=DynamoDbPresence(state),
        adopter=_adopter(definitions, state, payloads, clock),
        parking=parking_for(settings.sqs_queue_url, blobs, clock),
        blobs=blobs,
        emitter=emitter_for(settings, origin="worker", worker_id=worker_id),
        protection=scale_in_protection(os.environ),
        deployments=deployments(os.environ, service_arn=settings.worker_service_arn),
        web=HttpWebProbe(nearby_allowed=settings.webhooks_may_reach_private),
        pool=pool,
    )


def _offload(*, slots: int) -> Offload:
    return ThreadOffload(threads=PORT_THREADS_PER_SLOT * slots + PORT_THREADS_OF_THE_LOOP)


def _adopter(
    definitions: DefinitionStore, state: DynamoDbTable, payloads: DynamoDbPayloads, clock: Clock
) -> Adopter:
    return Adopter(
        definitions=definitions,
        adoption=DynamoDbTaskAdoption(state, payloads),
        clock=clock,
        queues=named_queues(state),
    )


def _own_queue(url: str) -> SqsTaskQueue:
    polling = aws.client("sqs", aws.POLLING_LIMITS)
    return SqsTaskQueue(aws.client("sqs"), url, polling=polling)


def _pool(
    settings: WorkerSettings, state: DynamoDbTable, own_queue: SqsTaskQueue, clock: SharedClock
) -> WorkerPool | None:
    if not settings.pools:
        return None
    return WorkerPool(
        directory=pool_directory(settings.pools, state, clock),
        own_queue=own_queue,
        depth=partial(SqsQueueDepths(aws.client("sqs")).of, settings.sqs_queue_url),
    )


def _inbox(
    name: str, pool: WorkerPool | None, own_queue: SqsTaskQueue, queue: TaskQueue
) -> TaskInbox:
    if pool is None:
        return own_queue
    return PoolInbox(name, inbox=own_queue, directory=pool.directory, queue=queue)
