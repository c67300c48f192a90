"""The Lambda functions: the queues behind them, and what their handlers do with a batch."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final

from switchyard.adapters.dynamodb.definition_store import DynamoDbDefinitionStore
from switchyard.adapters.dynamodb.event_log import DynamoDbEventLog
from switchyard.adapters.dynamodb.payloads import DynamoDbPayloads
from switchyard.adapters.dynamodb.task_additions import DynamoDbTaskAdoption
from switchyard.adapters.dynamodb.task_graph import DynamoDbTaskGraph
from switchyard.adapters.dynamodb.task_leases import DynamoDbTaskLeases
from switchyard.adapters.parallel import OneByOne
from switchyard.bootstrap.dispatch import DispatchingParts, Making
from switchyard.contracts.events.envelope import BusMessage
from switchyard.domain.errors import SwitchyardError
from switchyard.ports import QueueDepth
from switchyard.usecases.dead_letters.park_message import MessageParking
from switchyard.usecases.dead_letters.process_dead_letter import DeadLetterProcessor
from switchyard.usecases.dispatching.adopt_task import Adopter
from switchyard.usecases.events.save_event import save_event
from switchyard.usecases.scheduling.served_groups import ServedGroups
from tests.simulation.cloud.cloud import TASKS, Cloud, Seen
from tests.simulation.cloud.sqs import Message, Queue
from tests.simulation.jobs import TENANTS
from tests.simulation.kernel.node import Node
from tests.simulation.kernel.world import World

TIMEOUT_SECONDS: Final = 30.0
VISIBILITY_SECONDS: Final = 180.0
RECORDS_PER_BATCH: Final = 10
SWEEP_SECONDS: Final = 60.0
SWEEP_AT_MOST: Final = 500
SWEEP_FOR_SECONDS: Final = 20.0
SWEEP_MOST_TOKENS: Final = 50

DISPATCH_FOR_SECONDS: Final = 20.0

Messages = Sequence[Message]
Handle = Callable[[Seen, Messages], Messages]
"""What it does with a batch; those that come back are returned."""


@dataclass
class Invocations:
    """Runs functions on nodes of their own, each new, each with a clock of its own."""

    world: World
    cloud: Cloud
    new_node: Callable[[str], Node]
    bugs: list[BaseException] = field(default_factory=list)

    def invoke(self, name: str, call: Callable[[Seen], None]) -> "asyncio.Future[None]":
        node = self.new_node(name)
        running = node.start(lambda: call(self.cloud.seen_by(node, origin=name)))
        self.world.after(TIMEOUT_SECONDS, self._time_out, node, running)
        running.add_done_callback(self._look_at)
        return running

    def _time_out(self, node: Node, running: "asyncio.Future[None]") -> None:
        if not running.done():
            node.kill("after 30 s, by Lambda")

    def _look_at(self, running: "asyncio.Future[None]") -> None:
        """A dependency's trouble passes; anything else is a bug."""
        if running.cancelled():
            return
        error = running.exception()
        if error is not None and not isinstance(error, SwitchyardError):
            self.bugs.append(error)


@dataclass
class EventSourceMapping:
    """Calls a function for what is in a queue; what failed, or died, comes again."""

    name: str
    queue: Queue
    invocations: Invocations
    handle: Handle
    at_once: int = 3
    _running: int = 0
    _listening: bool = False

    def start(self) -> None:
        self._pump()

    def pause(self, seconds: float) -> None:
        """It is disabled for so long, if it is not; what comes meanwhile waits."""
        if self.at_once == 0:
            return
        at_once, self.at_once = self.at_once, 0
        self.invocations.world.after(seconds, self._resume, at_once)

    def _resume(self, at_once: int) -> None:
        self.at_once = at_once
        self._pump()

    def _hear(self) -> None:
        self._listening = False
        self._pump()

    def _pump(self) -> None:
        while self._running < self.at_once and self.queue.has_visible():
            batch = self.queue.take(RECORDS_PER_BATCH, visibility=VISIBILITY_SECONDS)
            if batch:
                self._invoke([(message, message.receipt) for message in batch])
        if not self._listening:
            self._listening = True
            self.queue.when_visible(self._hear)

    def _invoke(self, batch: list[tuple[Message, int]]) -> None:
        handled: list[tuple[Message, int]] = []

        def call(seen: Seen) -> None:
            returned = self.handle(seen, [message for message, _ in batch])
            handled.extend(one for one in batch if one[0] not in returned)

        def over(running: "asyncio.Future[None]") -> None:
            self._running -= 1
            for message, receipt in [] if running.cancelled() else handled:
                self.queue.delete(message.number, receipt)
            self._pump()

        self._running += 1
        running = self.invocations.invoke(self.name, call)
        running.add_done_callback(over)
        self.invocations.world.after(TIMEOUT_SECONDS + 1, _give_up_on, running)


def _give_up_on(running: "asyncio.Future[None]") -> None:
    """A killed invocation never answers: its place is free again all the same."""
    running.cancel()


def one_by_one(handle: Callable[[Seen, Message], None]) -> Handle:
    """A handler of batches from what is done with each record."""

    def fails(seen: Seen, message: Message) -> bool:
        try:
            handle(seen, message)
        except SwitchyardError as error:
            seen.node.world.report(seen.node.name, f"record failed: {error}")
            return True
        return False

    return lambda seen, batch: [message for message in batch if fails(seen, message)]


def dispatch(seen: Seen, batch: Messages) -> Messages:
    """What is no trouble of a dependency is a bug."""
    answers = (
        dispatching(seen)
        .dispatcher(seconds=DISPATCH_FOR_SECONDS)
        .handle({message.message_id: message.body for message in batch})
    )
    errors = {name: error for name, error in answers.items() if isinstance(error, Exception)}
    for error in errors.values():
        if not isinstance(error, SwitchyardError):
            raise error
        seen.node.world.report(seen.node.name, f"record failed: {error}")
    return [message for message in batch if message.message_id in errors]


@one_by_one
def keep(seen: Seen, message: Message) -> None:
    event = BusMessage.model_validate_json(message.body).detail
    log = DynamoDbEventLog(seen.table(seen.cloud.events))
    save_event(event, log=log, clock=seen.node, retention=timedelta(days=30))


@one_by_one
def process_dead_letter(seen: Seen, message: Message) -> None:
    state, blobs = seen.table(seen.cloud.state), seen.blobs()
    payloads = DynamoDbPayloads(state, blobs)
    processor = DeadLetterProcessor(
        tenant_id=TENANTS[0],
        graph=DynamoDbTaskGraph(state),
        leases=DynamoDbTaskLeases(state),
        payloads=payloads,
        queue=seen.queue(),
        adopter=Adopter(
            definitions=DynamoDbDefinitionStore(seen.table(seen.cloud.definitions)),
            adoption=DynamoDbTaskAdoption(state, payloads),
            clock=seen.node,
        ),
        parking=MessageParking(blobs=blobs, clock=seen.node, queue=TASKS),
        emitter=seen.emitter(),
        clock=seen.node,
    )
    done = processor.process(message.delivered())
    seen.node.world.report(seen.node.name, f"dead letter: {done}")


@dataclass(frozen=True)
class _Depths:
    """The depth of the task queue, which is the only one that a sweep asks for."""

    seen: Seen

    def of(self, queue: str) -> QueueDepth:
        return self.seen.task_depth()


def sweep(seen: Seen) -> None:
    parts = dispatching(seen)
    sweeper = parts.sweeper()
    for nudge in sweeper.sweep(at_most=SWEEP_AT_MOST, seconds=SWEEP_FOR_SECONDS):
        name = getattr(nudge.ref, "task_id", "the job")
        seen.node.world.report(seen.node.name, f"nudge {name}: {nudge.action}, {nudge.reason}")
    served = ServedGroups(TASKS, directory=None, depths=_Depths(seen))
    groups = parts.group_sweeper(served, SWEEP_MOST_TOKENS)
    for group in groups.sweep():
        seen.node.world.report(seen.node.name, f"swept {group}")


def dispatching(seen: Seen) -> DispatchingParts:
    return DispatchingParts(
        state=seen.table(seen.cloud.state),
        blobs=seen.blobs(),
        queue=seen.queue(),
        dispatches=seen.dispatches(),
        emitter=seen.emitter(),
        clock=seen.node,
        parallel=OneByOne(),
        making=Making(DynamoDbDefinitionStore(seen.table(seen.cloud.definitions))),
    )
