"""People and programs that answer held tasks: late, twice, and until they are heard."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from switchyard.adapters.dynamodb.job_store import DynamoDbJobStore
from switchyard.adapters.dynamodb.payloads import DynamoDbPayloads
from switchyard.adapters.dynamodb.signal_subscriptions import DynamoDbSignalSubscriptions
from switchyard.adapters.dynamodb.task_graph import DynamoDbTaskGraph
from switchyard.contracts.changes import DecideTask, SignalTask
from switchyard.contracts.messages import Attributes, Delivered
from switchyard.domain.ids import JobRef, TaskRef
from switchyard.domain.states import TaskKind, TaskState
from switchyard.domain.tasks.task import Task
from switchyard.usecases.jobs.decide_task import TaskDecider
from switchyard.usecases.jobs.held_task import HeldTaskReader
from switchyard.usecases.signals.match_event import SignalMatcher
from tests.simulation.checks.history import History
from tests.simulation.cloud.cloud import Cloud, Seen
from tests.simulation.cloud.table import Change
from tests.simulation.held import YES, Held
from tests.simulation.jobs import DrawnIds
from tests.simulation.scripted.held import DETAIL_TYPE, SOURCE
from tests.simulation.stage.functions import Invocations

LATEST_ANSWER: Final = 100.0
AGAIN_SECONDS: Final = 60.0


class NoQueue:
    """No event is waited for by so many tasks that the rest is sent again."""

    def send(self, queue: str, body: str, attributes: Attributes) -> None:
        raise NotImplementedError


@dataclass
class People:
    """Each hears that a task is held, and answers until it is not any more."""

    cloud: Cloud
    history: History
    invocations: Invocations
    held: Callable[[Task], Held | None]

    def start(self) -> None:
        self.cloud.dynamodb.on_change.append(self._hear)

    def _hear(self, change: Change) -> None:
        """Made after the history, which by then has taken note of the change."""
        if change.table != self.cloud.state or not change.key[1].startswith("TASK#"):
            return
        versions = self.history.tasks.get(_ref(change.key))
        if versions and _is_new(versions[-1].new, versions[-1].old):
            self._answer_later(versions[-1].new)

    def _answer_later(self, task: Task) -> None:
        held = self.held(task)
        dice, world = self.invocations.world.dice, self.invocations.world
        for number, answer in enumerate(held.answers if held else ()):
            said = f"{answer}.{task.run}.{number}"
            world.after(dice.uniform(0, LATEST_ANSWER), self._answer, task, held, said)

    def _answer(self, task: Task, held: Held, said: str) -> None:
        now = self.history.tasks[task.ref][-1].new
        if now.run != task.run or now.state is not TaskState.HELD:
            return
        self.invocations.invoke("api", lambda seen: _say(seen, task, held, said))
        self.invocations.world.after(AGAIN_SECONDS, self._answer, task, held, said)


def _ref(key: tuple[str, str]) -> TaskRef:
    tenant, _, job_id = key[0].removeprefix("TENANT#").partition("#JOB#")
    return JobRef(tenant, job_id).task(key[1].removeprefix("TASK#"))


def _is_new(task: Task, old: Task | None) -> bool:
    return task.state is TaskState.HELD and (old is None or old.state is not TaskState.HELD)


def _say(seen: Seen, task: Task, held: Held, said: str) -> None:
    by = f"somebody of {task.ref.job_id}"
    decider = _decider(seen)
    if held.by_event:
        _matcher(seen, decider).match(_event(seen, task, said))
    elif held.kind is TaskKind.SIGNAL:
        value = {"of": task.ref.request_id}
        decider.signal(task.ref, SignalTask(value=value, run=task.run, request_id=said), by=by)
    else:
        basis = decider.reader.view(task.ref).basis
        request = DecideTask(approved=said.startswith(YES), basis=basis, request_id=said)
        decider.decide(task.ref, request, by=by)


def _decider(seen: Seen) -> TaskDecider:
    state, blobs = seen.table(seen.cloud.state), seen.blobs()
    graph = DynamoDbTaskGraph(state)
    payloads = DynamoDbPayloads(state, blobs)
    return TaskDecider(
        reader=HeldTaskReader(
            jobs=DynamoDbJobStore(state), graph=graph, payloads=payloads, blobs=blobs
        ),
        graph=graph,
        emitter=seen.emitter(),
        clock=seen.node,
        ids=DrawnIds(seen.node.world.dice),
    )


def _matcher(seen: Seen, decider: TaskDecider) -> SignalMatcher:
    return SignalMatcher(
        subscriptions=DynamoDbSignalSubscriptions(seen.table(seen.cloud.state)),
        decider=decider,
        graph=decider.graph,
        queue_sender=NoQueue(),
        queue="signals",
    )


def _event(seen: Seen, task: Task, said: str) -> Delivered:
    """An event for this task alone, as its message comes however often it is delivered."""
    detail = {"tenantId": task.ref.tenant, "order": task.ref.task_id, "of": task.ref.request_id}
    event = {"id": said, "source": SOURCE, "detail-type": DETAIL_TYPE, "detail": detail}
    sent_at_ms = seen.node.now_ms()
    return Delivered(body=json.dumps(event), message_id=said, sent_at_ms=sent_at_ms, attributes={})
