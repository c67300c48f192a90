"""Workers without a loop: a claim, some time, an end that was scripted."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from switchyard.adapters.dynamodb.payloads import DynamoDbPayloads
from switchyard.adapters.dynamodb.task_leases import DynamoDbTaskLeases
from switchyard.contracts.messages import TaskMessage
from switchyard.domain.errors import MustNotStart
from switchyard.domain.states import TaskState
from switchyard.domain.tasks.claim_refusals import (
    Busy,
    Done,
    Exhausted,
    Flagged,
    NotYet,
    cancelled,
    exhausted,
)
from switchyard.domain.tasks.task import Lease, Outcome, Task
from switchyard.ports import Claimed, ClaimRefused
from switchyard.usecases.events import task_events
from switchyard.usecases.events.emit_again import emit_again
from tests.simulation.cloud.cloud import Seen
from tests.simulation.cloud.sqs import Message, Queue
from tests.simulation.script import items_of
from tests.simulation.stage.functions import TIMEOUT_SECONDS, Invocations
from tests.simulation.stage.workers import ChildRun

LEASE_MS: Final = 60_000
VISIBILITY_SECONDS: Final = 90.0
LONGEST_SECONDS: Final = 2.0
AT_ONCE: Final = 20

Ending = Callable[[Task], TaskState]


@dataclass
class Hands:
    """Each takes one message, and is not seen again."""

    queue: Queue
    invocations: Invocations
    ending: Ending
    children: list[ChildRun] = field(default_factory=list)
    _busy: int = 0
    _listening: bool = False

    def start(self) -> None:
        while self._busy < AT_ONCE and self.queue.has_visible():
            for message in self.queue.take(1, visibility=VISIBILITY_SECONDS):
                self._invoke(message, message.receipt)
        if not self._listening:
            self._listening = True
            self.queue.when_visible(self._hear)

    def _hear(self) -> None:
        self._listening = False
        self.start()

    def _invoke(self, message: Message, receipt: int) -> None:
        """Invoke a function that may die or fail, and so leave the message to come again."""
        running = self.invocations.invoke("hand", lambda seen: self._take(seen, message))

        def over(_running: object) -> None:
            self._busy -= 1
            if not running.cancelled() and running.exception() is None:
                self.queue.delete(message.number, receipt)
            self.start()

        self._busy += 1
        running.add_done_callback(over)
        self.invocations.world.after(TIMEOUT_SECONDS + 1, running.cancel)

    def _take(self, seen: Seen, message: Message) -> None:
        ref = TaskMessage.model_validate_json(message.body).ref
        owner = f"{seen.node.name}/{seen.node.world.number('claim')}"
        leases = DynamoDbTaskLeases(seen.table(seen.cloud.state))
        leases.look_at([ref])  # like a worker's first call, its answer tells AWS's time
        answer = leases.claim(ref, owner=owner, now_ms=seen.node.now_ms(), lease_ms=LEASE_MS)
        match answer:
            case Claimed():
                self._run(seen, leases, answer)
            case ClaimRefused():
                _answer(seen, leases, answer)
            case None:
                seen.node.world.report(seen.node.name, f"{ref.request_id} does not exist")

    def _run(self, seen: Seen, leases: DynamoDbTaskLeases, claimed: Claimed) -> None:
        """It looks once whether it is to stop, as a heartbeat would."""
        node, task = seen.node, claimed.task
        payloads = DynamoDbPayloads(seen.table(seen.cloud.state), seen.blobs())
        try:
            payloads.read_to_start(task.ref)
        except MustNotStart:
            settle(seen, leases, claimed.lease, TaskState.CANCELLED)
            return
        child = ChildRun(task.ref, task.fence, task.attempt, node, node.monotonic())
        self.children.append(child)
        node.on_death.append(lambda: _end(child))
        try:
            node.sleep(node.between(0, LONGEST_SECONDS))
            lease_until_ms = node.now_ms() + LEASE_MS
            renewed = leases.renew(claimed.lease, lease_until_ms=lease_until_ms)
            node.sleep(node.between(0, LONGEST_SECONDS))
        finally:
            _end(child)
        state = TaskState.CANCELLED if renewed.cancel_requested else self.ending(task)
        settle(seen, leases, claimed.lease, state)


def settle(seen: Seen, leases: DynamoDbTaskLeases, lease: Lease, state: TaskState) -> None:
    """Store the outcome, then emit it; the worker may die in between."""
    output = None
    if state is TaskState.COMPLETED:
        items = items_of(lease.ref, lease.task.run)
        output = {"of": lease.ref.request_id, "fence": lease.fence, "items": items}
    settled = leases.settle(
        lease, Outcome(state=state, error="as scripted"), output=output, now_ms=seen.node.now_ms()
    )
    seen.emitter().emit(task_events.settled(settled, output=output))


def _answer(seen: Seen, leases: DynamoDbTaskLeases, refused: ClaimRefused) -> None:
    task, decision = refused.task, refused.decision
    match decision:
        case Busy() | NotYet():
            return
        case Done():
            payloads = DynamoDbPayloads(seen.table(seen.cloud.state), seen.blobs())
            emit_again(task, payloads=payloads, emitter=seen.emitter())
        case Exhausted():
            _give_up(seen, leases, task, exhausted(task, decision))
        case Flagged():
            _give_up(seen, leases, task, cancelled(decision))


def _give_up(seen: Seen, leases: DynamoDbTaskLeases, task: Task, outcome: Outcome) -> None:
    given_up = leases.give_up(task, outcome, now_ms=seen.node.now_ms())
    if given_up is not None:
        seen.emitter().emit(task_events.settled(given_up, output=None))


def _end(child: ChildRun) -> None:
    if child.ended is None:
        child.ended = child.node.world.now
