"""The stage's part of AWS: its tables, queues, bus and bucket, and adapters for every node."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from inspect import signature
from typing import Any, Final

from switchyard.adapters.dynamodb.table import DynamoDbTable
from switchyard.adapters.eventbridge import EventBridgeBus, EventOverflow
from switchyard.adapters.parallel import OneByOne
from switchyard.adapters.pauses import Pauses
from switchyard.adapters.s3 import S3BlobStore
from switchyard.adapters.sqs import SqsDispatchQueue, SqsTaskQueue
from switchyard.adapters.sqs_depths import SqsQueueDepths
from switchyard.contracts.events import Context
from switchyard.ports import QueueDepth
from switchyard.usecases.events.emitting import Emitter
from tests.fakes.tables import BUCKET, a_table, events_table, state_table
from tests.simulation.cloud.client import Client, Sky
from tests.simulation.cloud.dynamodb import DynamoDb
from tests.simulation.cloud.eventbridge import EventBridge, Rule
from tests.simulation.cloud.s3 import S3
from tests.simulation.cloud.sqs import Queue, Sqs
from tests.simulation.kernel.node import Node
from tests.simulation.kernel.world import World
from tests.simulation.weather import CALM, Weather

TASKS: Final = "tasks"
DISPATCHES: Final = "dispatch"
APP: Final = "task-workflow"
ITEMS_PER_PAGE: Final = 7
"""Few, so that every query of more than a handful needs pages."""


class Cloud:
    def __init__(self, world: World, weather: Weather, *, waking_events: Sequence[str]) -> None:
        self._world = world
        self._sky = Sky(weather)
        self._lagging: list[Callable[[], None]] = []
        self.dynamodb = DynamoDb(later=self._when_indexes_follow, items_per_page=ITEMS_PER_PAGE)
        self.state = state_table(self.dynamodb)
        self.events = events_table(self.dynamodb)
        self.definitions = a_table(self.dynamodb, "definitions")
        self.s3 = S3()
        self.dead_letters = Queue(world, "tasks-dlq")
        self.tasks = Queue(world, TASKS, weather.queue, dead_letters=self.dead_letters)
        self.dispatch_dead_letters = Queue(world, "dispatch-dlq")
        self.dispatch = Queue(
            world, DISPATCHES, dead_letters=self.dispatch_dead_letters, max_receives=5
        )
        self.event_queue = Queue(world, "events")
        self._to_dispatcher = Rule(
            queue=self.dispatch, event_types=waking_events, lost=weather.wake_ups_lost
        )
        rules = [self._to_dispatcher, Rule(queue=self.event_queue)]
        self.bus = EventBridge(world, rules, weather.bus)
        self.sqs = Sqs({TASKS: self.tasks, DISPATCHES: self.dispatch}, world)

    @property
    def weather(self) -> Weather:
        return self._sky.weather

    def clear_up(self) -> None:
        """Let everything work from now on; indexes catch up."""
        self._sky.weather = CALM
        self.tasks.faults = CALM.queue
        self.bus.faults = CALM.bus
        self._to_dispatcher.lost = 0.0
        lagging, self._lagging = self._lagging, []
        for follow in lagging:
            follow()

    def seen_by(self, node: Node, *, origin: str, worker_id: str | None = None) -> "Seen":
        return Seen(cloud=self, node=node, origin=origin, worker_id=worker_id)

    def client(self, node: Node, service: Any) -> Client:
        return Client(node, service, self._sky)

    def _when_indexes_follow(self, follow: Callable[[], None]) -> None:
        lag = self.weather.index_lag
        if not lag:
            follow()
            return
        self._lagging.append(follow)
        self._world.after(self._world.dice.uniform(0, lag), follow)


@dataclass
class Seen:
    """The real adapters, as one node calls them."""

    cloud: Cloud
    node: Node
    origin: str
    worker_id: str | None
    pauses: Pauses = field(init=False)

    def __post_init__(self) -> None:
        self.pauses = Pauses(self.node.sleep, self.node.between, self.node.monotonic)

    def table(self, name: str) -> DynamoDbTable:
        client = self.cloud.client(self.node, self.cloud.dynamodb)
        return DynamoDbTable(client, name, pauses=self.pauses, parallel=OneByOne())

    def queue(self) -> SqsTaskQueue:
        return SqsTaskQueue(self.cloud.client(self.node, self.cloud.sqs), TASKS)

    def task_depth(self) -> QueueDepth:
        return SqsQueueDepths(self.cloud.client(self.node, self.cloud.sqs)).of(TASKS)

    def dispatches(self) -> SqsDispatchQueue:
        """One queue for tasks and jobs: the same function reads both, and 0.1.0 has no other."""
        client = self.cloud.client(self.node, self.cloud.sqs)
        urls = (DISPATCHES,) * (len(signature(SqsDispatchQueue).parameters) - 1)
        return SqsDispatchQueue(client, *urls)

    def blobs(self) -> S3BlobStore:
        return S3BlobStore(self.cloud.client(self.node, self.cloud.s3), BUCKET)

    def emitter(self) -> Emitter:
        bus = EventBridgeBus(
            self.cloud.client(self.node, self.cloud.bus),
            "bus",
            EventOverflow(self.blobs(), BUCKET),
            pauses=self.pauses,
        )
        context = Context(environment="sim", origin=self.origin, worker_id=self.worker_id)
        return Emitter(bus, app=APP, context=context)
