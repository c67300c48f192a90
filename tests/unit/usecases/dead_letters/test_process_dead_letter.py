"""Dead letters of the task queue, on in-memory twins: the task's state decides what they mean."""

import json
from dataclasses import replace
from typing import Any

import pytest

from switchyard.contracts.events import Event
from switchyard.contracts.messages import (
    Delivered,
    ForeignTask,
    MessageAttribute,
    TaskMessage,
    parse_message,
)
from switchyard.domain.errors import Unavailable
from switchyard.domain.ids import START, TaskRef, bare_task
from switchyard.domain.states import TaskState
from switchyard.domain.tasks.task import MAX_ATTEMPTS, Outcome, Payload, Task
from switchyard.ports import Claimed
from switchyard.testing import ManualClock, MemoryHarness
from switchyard.usecases.dead_letters.park_message import MessageParking
from switchyard.usecases.dead_letters.process_dead_letter import (
    DeadLetterProcessor,
    Handled,
    Parked,
)
from switchyard.usecases.dispatching.adopt_task import Adopter
from tests.builders import JOB, TENANT, a_definition, a_task, an_emitter
from tests.fakes.harnesses.job_harness import Crash, crashing

TASK = JOB.task("a")
BARE = bare_task(TENANT, "order-1")


class Harness:
    def __init__(self) -> None:
        self.clock = ManualClock()
        self.memory = MemoryHarness(self.clock)
        self.memory.definitions.put(TENANT, "scrape", a_definition())
        self.processor = DeadLetterProcessor(
            tenant_id=TENANT,
            graph=self.memory.graph,
            leases=self.memory.leases,
            payloads=self.memory.payloads,
            queue=self.memory.queue,
            adopter=Adopter(
                definitions=self.memory.definitions,
                adoption=self.memory.adoption,
                clock=self.clock,
            ),
            parking=MessageParking(blobs=self.memory.blobs, clock=self.clock, queue="task-queue"),
            emitter=an_emitter(self.memory.bus),
            clock=self.clock,
        )

    def given(self, **facts: Any) -> Task:
        task = a_task("a", **facts)
        self.memory.state.tasks[task.ref] = task
        self.memory.state.payloads[task.ref] = Payload(input=1)
        return task

    def task(self, ref: TaskRef = TASK) -> Task:
        return self.memory.state.tasks[ref]

    def process(self, body: str | None = None) -> Handled | Parked:
        return self.processor.process(self.letter(body))

    def letter(self, body: str | None = None) -> Delivered:
        text = TaskMessage.to(TASK, run=1).model_dump_json(by_alias=True) if body is None else body
        attribute = MessageAttribute(data_type="String", string_value="order-1")
        return Delivered(
            body=text,
            message_id="m1",
            sent_at_ms=self.clock.now_ms(),
            attributes={"requestId": attribute},
        )

    def sent(self) -> list[TaskRef]:
        received = self.memory.queue.receive(at_most=9, wait_seconds=0, visibility_seconds=99)
        return [parse_message(message, tenant=TENANT).ref for message in received]

    @property
    def emitted(self) -> list[Event]:
        return self.memory.bus.events

    def parked(self) -> list[dict[str, Any]]:
        return [json.loads(blob) for blob in self.memory.blobs.blobs.values()]


@pytest.fixture
def harness() -> Harness:
    return Harness()


def test_a_running_task_goes_on(harness: Harness) -> None:
    later = harness.clock.now_ms() + 1
    task = harness.given(
        state=TaskState.PROCESSING, owner="w/1", lease_until_ms=later, attempt=MAX_ATTEMPTS
    )
    assert harness.process() == Handled(TASK, "drop", f"busy until {later}")
    assert harness.task() == task
    assert (harness.sent(), harness.emitted, harness.parked()) == ([], [], [])


def test_a_completed_task_is_reported_again_exactly_as_before(harness: Harness) -> None:
    harness.given()
    now_ms = harness.clock.now_ms()
    answer = harness.memory.leases.claim(TASK, owner="w/1", now_ms=now_ms, lease_ms=1000)
    assert isinstance(answer, Claimed)
    completed = Outcome(state=TaskState.COMPLETED, exit_code=0)
    harness.memory.leases.settle(answer.lease, completed, output={"x": 2}, now_ms=now_ms)
    harness.clock.advance(99)
    done = harness.process()
    assert isinstance(done, Handled)
    assert done.action == "tell again"
    (event,) = harness.emitted
    detail = event.detail()
    assert (detail["eventType"], detail["timestamp"]) == ("Task Completed", now_ms)
    assert detail["properties"]["output"] == {"x": 2}
    assert (harness.sent(), harness.parked()) == ([], [])


def test_a_task_with_attempts_left_is_sent_again_as_a_fresh_message(
    harness: Harness,
) -> None:
    task = harness.given(state=TaskState.PROCESSING, owner="dead", attempt=MAX_ATTEMPTS - 1, run=4)
    done = harness.process()
    assert isinstance(done, Handled)
    assert done.action == "send again"
    assert harness.sent() == [TASK]
    assert harness.task() == task
    assert (harness.emitted, harness.parked()) == ([], [])


def test_an_exhausted_task_fails_once_and_its_event_is_emitted(harness: Harness) -> None:
    harness.given(state=TaskState.PROCESSING, owner="dead", attempt=MAX_ATTEMPTS, fence=7)
    harness.process()
    task = harness.task()
    assert (task.state, task.fence) == (TaskState.FAILED, 8)
    (event,) = harness.emitted
    assert event.event_type == "Task Failed"
    assert event.detail()["properties"]["source"] == "dlq"
    assert harness.sent() == []


def test_a_flagged_task_is_cancelled_and_its_event_is_emitted(harness: Harness) -> None:
    harness.given(cancel_requested=True)
    harness.process()
    assert harness.task().state is TaskState.CANCELLED
    assert [event.event_type for event in harness.emitted] == ["Task Cancelled"]


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (None, f"there is no task {TASK.request_id}"),
        (
            TaskMessage.to(JOB.task(START), run=1).model_dump_json(by_alias=True),
            f"there is no task {JOB.task(START).request_id}",
        ),
        ("no JSON", "body: expected"),
        ('{"name": "unheard-of"}', "there is no task definition 'unheard-of'"),
    ],
)
def test_a_message_without_a_task_is_parked_whole(
    harness: Harness, body: str | None, reason: str
) -> None:
    hidden = a_task(START, state=TaskState.WAITING)
    harness.memory.state.tasks[hidden.ref] = hidden
    done = harness.process(body)
    assert isinstance(done, Parked)
    assert reason in done.reason
    (parked,) = harness.parked()
    assert parked["body"] == harness.letter(body).body
    assert (parked["queue"], parked["reason"]) == ("task-queue", done.reason)
    assert parked["messageAttributes"]["requestId"]["stringValue"] == "order-1"
    assert list(harness.memory.blobs.blobs) == [done.key]


def test_a_foreign_task_that_no_worker_could_adopt_is_adopted_and_sent(
    harness: Harness,
) -> None:
    """What met an outage three times is no poison."""
    harness.process('{"name": "scrape", "input": {"a": 1}}')
    assert harness.task(BARE).state is TaskState.QUEUED
    assert harness.memory.state.payloads[BARE].input == {"a": 1}
    assert harness.sent() == [BARE]
    assert harness.parked() == []


def test_a_foreign_task_that_was_adopted_is_treated_like_any_other(
    harness: Harness,
) -> None:
    harness.processor.adopter.adopt(ForeignTask(BARE, "scrape", None, {}))
    exhausted = replace(harness.task(BARE), attempt=MAX_ATTEMPTS)
    harness.memory.state.tasks[BARE] = exhausted
    harness.process('{"name": "scrape", "input": "another"}')
    assert harness.task(BARE).state is TaskState.FAILED


def test_a_task_that_is_claimed_meanwhile_is_not_failed(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    harness.given(state=TaskState.PROCESSING, owner="dead", attempt=MAX_ATTEMPTS, fence=7)
    give_up = harness.memory.leases.give_up

    def too_late(*args: Any, **kwargs: Any) -> Task | None:
        harness.memory.state.tasks[TASK] = replace(
            harness.task(), fence=8, owner="w/9", lease_until_ms=harness.clock.now_ms() + 1000
        )
        return give_up(*args, **kwargs)

    monkeypatch.setattr(harness.memory.leases, "give_up", too_late)
    with pytest.raises(Unavailable, match="changed since"):
        harness.process()
    monkeypatch.undo()
    done = harness.process()
    assert isinstance(done, Handled)
    assert done.action == "drop"
    assert harness.emitted == []


def test_an_event_that_a_crash_prevented_is_emitted_by_the_next_delivery(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    harness.given(state=TaskState.PROCESSING, owner="dead", attempt=MAX_ATTEMPTS)
    monkeypatch.setattr(harness.memory.bus, "put", crashing(harness.memory.bus.put, after=False))
    with pytest.raises(Crash):
        harness.process()
    monkeypatch.undo()
    harness.process()
    assert [event.event_type for event in harness.emitted] == ["Task Failed"]
    assert harness.emitted[0].detail()["properties"]["source"] == "dlq"


def test_a_message_is_not_parked_before_it_is_stored(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*args: Any, **kwargs: Any) -> None:
        raise Unavailable("the bucket does not answer")

    monkeypatch.setattr(harness.memory.blobs, "put", refuse)
    with pytest.raises(Unavailable):
        harness.process("no JSON")
