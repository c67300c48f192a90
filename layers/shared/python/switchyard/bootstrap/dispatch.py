"""Wires the dispatcher, and the functions behind dead-letter queues."""

from dataclasses import dataclass
from typing import Final

from switchyard.adapters import aws
from switchyard.adapters.aws_time import function_clock
from switchyard.adapters.dynamodb.access.limits import DynamoDbOpenTasks
from switchyard.adapters.dynamodb.cancellation import DynamoDbCancelling
from switchyard.adapters.dynamodb.job_intake import DynamoDbJobIntake
from switchyard.adapters.dynamodb.job_store import DynamoDbJobStore
from switchyard.adapters.dynamodb.overdue import DynamoDbOverdue
from switchyard.adapters.dynamodb.payloads import DynamoDbPayloads
from switchyard.adapters.dynamodb.presence import DynamoDbPauseSwitch
from switchyard.adapters.dynamodb.redrives import DynamoDbRedriving
from switchyard.adapters.dynamodb.scheduling.ready_index import DynamoDbReadyIndex
from switchyard.adapters.dynamodb.scheduling.start_limits import DynamoDbStartLimits
from switchyard.adapters.dynamodb.scheduling.tenant_clocks import DynamoDbTenantClocks
from switchyard.adapters.dynamodb.signal_subscriptions import DynamoDbSignalSubscriptions
from switchyard.adapters.dynamodb.table import DynamoDbTable
from switchyard.adapters.dynamodb.task_additions import DynamoDbTaskAdoption
from switchyard.adapters.dynamodb.task_graph import DynamoDbFanOuts, DynamoDbTaskGraph
from switchyard.adapters.dynamodb.task_leases import DynamoDbTaskLeases
from switchyard.adapters.parallel import Threads
from switchyard.adapters.s3 import S3BlobStore
from switchyard.adapters.sqs import SqsDispatchQueue
from switchyard.bootstrap.pools import task_queue
from switchyard.bootstrap.wiring import definition_store, emitter_for, named_queues, parking_for
from switchyard.domain.access.limits import WIDEST_CEILINGS, Ceilings
from switchyard.domain.jobs.job import NextStep
from switchyard.ports import Clock, DefinitionStore, Parallel, TaskQueue
from switchyard.settings import (
    ArchiveDeadLettersSettings,
    DeadLetterSettings,
    DispatcherSettings,
)
from switchyard.usecases.access.limits import OpenTaskLimit
from switchyard.usecases.dead_letters.park_message import DeadLetterArchive
from switchyard.usecases.dead_letters.process_dead_letter import DeadLetterProcessor
from switchyard.usecases.dispatching.adopt_task import Adopter
from switchyard.usecases.dispatching.dispatch_batch import BatchDispatcher, JobAdvancer, JobStep
from switchyard.usecases.dispatching.dispatch_task import Dispatcher, Starter
from switchyard.usecases.dispatching.fan_outs import FanOutTasks
from switchyard.usecases.dispatching.held_tasks import HeldTasks
from switchyard.usecases.dispatching.nested_jobs import NestedJobs
from switchyard.usecases.dispatching.settle_job import JobSettler
from switchyard.usecases.dispatching.sweep import Sweeper
from switchyard.usecases.events.emitting import Emitter
from switchyard.usecases.jobs.cancel import Canceller
from switchyard.usecases.jobs.expand_job import Expander
from switchyard.usecases.jobs.redrive import Redriver
from switchyard.usecases.scheduling.marks import Marks
from switchyard.usecases.scheduling.served_groups import ServedGroups
from switchyard.usecases.scheduling.sweep_groups import GroupSweeper
from switchyard.usecases.signals.subscribe import SignalSubscriber


def dispatcher(settings: DispatcherSettings) -> BatchDispatcher:
    state = DynamoDbTable(aws.client("dynamodb"), settings.state_table_name)
    clock = function_clock()
    return DispatchingParts(
        state=state,
        blobs=S3BlobStore(aws.client("s3"), settings.s3_bucket),
        queue=task_queue(settings, settings.sqs_queue_url, state=state, clock=clock),
        dispatches=SqsDispatchQueue(
            aws.client("sqs"), settings.dispatch_queue_url, settings.job_queue_url
        ),
        emitter=emitter_for(settings, origin="dispatcher"),
        clock=clock,
        parallel=Threads(),
        making=Making(
            ceilings=settings.ceilings,
            definitions=definition_store(aws.client("dynamodb"), settings.task_definitions_table),
        ),
    ).dispatcher(seconds=settings.dispatch_seconds)


@dataclass(frozen=True)
class Making:
    """The ports and limits that are needed to make tasks of lists and templates."""

    definitions: DefinitionStore | None = None
    ceilings: Ceilings = WIDEST_CEILINGS


NOT_MAKING: Final = Making()
"""The sweeper leaves what is ready to the dispatcher."""


class DispatchingParts:
    """Builds the dispatcher and the sweeper, on whichever cloud the adapters stand."""

    def __init__(
        self,
        *,
        state: DynamoDbTable,
        blobs: S3BlobStore,
        queue: TaskQueue,
        dispatches: SqsDispatchQueue,
        emitter: Emitter,
        clock: Clock,
        parallel: Parallel,
        making: Making = NOT_MAKING,
    ) -> None:
        self._state = state
        self._making = making
        self._blobs = blobs
        self._queue = queue
        self._dispatches = dispatches
        self._emitter = emitter
        self._clock = clock
        self._parallel = parallel
        self._jobs = DynamoDbJobStore(state)
        self._graph = DynamoDbTaskGraph(state)
        self._payloads = DynamoDbPayloads(state, blobs)
        self._open_tasks = DynamoDbOpenTasks(state)
        self._intake = DynamoDbJobIntake(state, self._payloads)
        self._ready = DynamoDbReadyIndex(state)
        self._clocks = DynamoDbTenantClocks(state)
        self._starter = self._starting()

    def _starting(self) -> Starter:
        return Starter(
            graph=self._graph,
            queue=self._queue,
            held=HeldTasks(
                graph=self._graph,
                payloads=self._payloads,
                subscriber=self._subscriber(),
                emitter=self._emitter,
                clock=self._clock,
                parallel=self._parallel,
            ),
            fan_outs=self._fan_outs(),
            marks=Marks(self._clocks, self._clock),
            emitter=self._emitter,
            clock=self._clock,
            parallel=self._parallel,
        )

    def _subscriber(self) -> SignalSubscriber:
        return SignalSubscriber(
            subscriptions=DynamoDbSignalSubscriptions(self._state),
            payloads=self._payloads,
            leases=DynamoDbTaskLeases(self._state),
            emitter=self._emitter,
            clock=self._clock,
        )

    def dispatcher(self, *, seconds: float) -> BatchDispatcher:
        dispatcher = self._dispatcher()
        return BatchDispatcher(
            dispatcher=dispatcher,
            advancer=JobAdvancer(
                jobs=self._jobs, dispatches=self._dispatches, steps=self._steps(dispatcher)
            ),
            dispatches=self._dispatches,
            clock=self._clock,
            seconds=seconds,
        )

    def _dispatcher(self) -> Dispatcher:
        return Dispatcher(
            graph=self._graph,
            payloads=self._payloads,
            settler=JobSettler(
                jobs=self._jobs,
                open_tasks=self._open_tasks,
                dispatches=self._dispatches,
                emitter=self._emitter,
                clock=self._clock,
            ),
            starter=self._starter,
            dispatches=self._dispatches,
            emitter=self._emitter,
            clock=self._clock,
            parallel=self._parallel,
        )

    def _fan_outs(self) -> FanOutTasks:
        return FanOutTasks(
            fan_outs=DynamoDbFanOuts(self._state, self._payloads),
            intake=self._intake,
            jobs=self._jobs,
            graph=self._graph,
            payloads=self._payloads,
            blobs=self._blobs,
            nested=NestedJobs(
                definitions=self._making.definitions,
                payloads=self._payloads,
                queues=named_queues(self._state),
            ),
            open_tasks=OpenTaskLimit(
                open_tasks=self._open_tasks,
                jobs=self._jobs,
                clock=self._clock,
                most=self._making.ceilings.max_open_tasks,
            ),
            dispatches=self._dispatches,
            emitter=self._emitter,
            clock=self._clock,
            parallel=self._parallel,
        )

    def sweeper(self) -> Sweeper:
        return Sweeper(
            overdue=DynamoDbOverdue(self._state),
            jobs=self._jobs,
            graph=self._graph,
            payloads=self._payloads,
            open_tasks=self._open_tasks,
            queue=self._queue,
            dispatches=self._dispatches,
            starter=self._starter,
            index=self._ready,
            emitter=self._emitter,
            clock=self._clock,
        )

    def group_sweeper(self, served: ServedGroups, most_tokens: int) -> GroupSweeper:
        return GroupSweeper(
            groups=served.names,
            index=self._ready,
            clocks=self._clocks,
            limits=DynamoDbStartLimits(self._state),
            graph=self._graph,
            pause_switch=DynamoDbPauseSwitch(self._state),
            queue=self._queue,
            waiting=served.waiting,
            clock=self._clock,
            most_tokens=most_tokens,
        )

    def _steps(self, dispatcher: Dispatcher) -> dict[NextStep, JobStep]:
        return {
            NextStep.EXPAND: Expander(
                intake=self._intake,
                blobs=self._blobs,
                emitter=self._emitter,
                clock=self._clock,
            ),
            NextStep.CANCEL: Canceller(
                graph=self._graph,
                cancelling=DynamoDbCancelling(self._state),
                follower=dispatcher,
                emitter=self._emitter,
                clock=self._clock,
            ),
            NextStep.REDRIVE: Redriver(
                jobs=self._jobs,
                redriving=DynamoDbRedriving(self._state, self._payloads),
                blobs=self._blobs,
                starter=self._starter,
                open_tasks=self._open_tasks,
                emitter=self._emitter,
                clock=self._clock,
                parallel=self._parallel,
            ),
        }


def dead_letter_processor(settings: DeadLetterSettings) -> DeadLetterProcessor:
    dynamodb = aws.client("dynamodb")
    state = DynamoDbTable(dynamodb, settings.state_table_name)
    blobs = S3BlobStore(aws.client("s3"), settings.s3_bucket)
    payloads, clock = DynamoDbPayloads(state, blobs), function_clock()
    return DeadLetterProcessor(
        tenant_id=settings.tenant_id,
        graph=DynamoDbTaskGraph(state),
        leases=DynamoDbTaskLeases(state),
        payloads=payloads,
        queue=task_queue(settings, settings.sqs_queue_url, state=state, clock=clock),
        adopter=Adopter(
            definitions=definition_store(dynamodb, settings.task_definitions_table),
            adoption=DynamoDbTaskAdoption(state, payloads),
            clock=clock,
            queues=named_queues(state),
        ),
        parking=parking_for(settings.sqs_queue_url, blobs, clock),
        emitter=emitter_for(settings, origin="dead-letters"),
        clock=clock,
    )


def dead_letter_archive(settings: ArchiveDeadLettersSettings) -> DeadLetterArchive:
    blobs = S3BlobStore(aws.client("s3"), settings.s3_bucket)
    return DeadLetterArchive(blobs=blobs, clock=function_clock())
