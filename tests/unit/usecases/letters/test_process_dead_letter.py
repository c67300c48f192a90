"""Dead letters of the task queue, on in-memory twins: the task's state decides what they mean."""

import json
from dataclasses import replace
from typing import Any

import pytest

from switchyard.adapters.memory import ManualClock, MemoryYard
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
from switchyard.usecases.dispatching.adopt_task import Adopter
from switchyard.usecases.letters.process_dead_letter import DeadLetterProcessor, Handled, PutAside
from switchyard.usecases.letters.quarantine import Quarantine
from tests.builders import JOB, TENANT, a_definition, a_task, an_emitter
from tests.fakes.yard import Crash, crashing

TASK = JOB.task("a")
BARE = bare_task(TENANT, "order-1")


class LetterYard:
    def __init__(self) -> None:
        self.clock = ManualClock()
        self.memory = MemoryYard(self.clock)
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
            quarantine=Quarantine(blobs=self.memory.blobs, clock=self.clock, queue="task-queue"),
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

    def process(self, body: str | None = None) -> Handled | PutAside:
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
    def told(self) -> list[Event]:
        return self.memory.bus.events

    def kept(self) -> list[dict[str, Any]]:
        return [json.loads(blob) for blob in self.memory.blobs.blobs.values()]


@pytest.fixture
def yard() -> LetterYard:
    return LetterYard()


def test_a_running_task_goes_on(yard: LetterYard) -> None:
    later = yard.clock.now_ms() + 1
    task = yard.given(
        state=TaskState.PROCESSING, owner="w/1", lease_until_ms=later, attempt=MAX_ATTEMPTS
    )
    assert yard.process() == Handled(TASK, "drop", f"busy until {later}")
    assert yard.task() == task
    assert (yard.sent(), yard.told, yard.kept()) == ([], [], [])


def test_a_completed_task_is_told_again_exactly_as_before(yard: LetterYard) -> None:
    yard.given()
    now_ms = yard.clock.now_ms()
    answer = yard.memory.leases.claim(TASK, owner="w/1", now_ms=now_ms, lease_ms=1000)
    assert isinstance(answer, Claimed)
    completed = Outcome(state=TaskState.COMPLETED, exit_code=0)
    yard.memory.leases.settle(answer.lease, completed, output={"x": 2}, now_ms=now_ms)
    yard.clock.advance(99)
    done = yard.process()
    assert isinstance(done, Handled)
    assert done.action == "tell again"
    (event,) = yard.told
    detail = event.detail()
    assert (detail["eventType"], detail["timestamp"]) == ("Task Completed", now_ms)
    assert detail["properties"]["output"] == {"x": 2}
    assert (yard.sent(), yard.kept()) == ([], [])


def test_a_task_with_attempts_left_is_sent_again_as_a_fresh_message(yard: LetterYard) -> None:
    task = yard.given(state=TaskState.PROCESSING, owner="dead", attempt=MAX_ATTEMPTS - 1, run=4)
    done = yard.process()
    assert isinstance(done, Handled)
    assert done.action == "send again"
    assert yard.sent() == [TASK]
    assert yard.task() == task
    assert (yard.told, yard.kept()) == ([], [])


def test_an_exhausted_task_fails_once_and_is_told(yard: LetterYard) -> None:
    yard.given(state=TaskState.PROCESSING, owner="dead", attempt=MAX_ATTEMPTS, fence=7)
    yard.process()
    task = yard.task()
    assert (task.state, task.fence) == (TaskState.FAILED, 8)
    (event,) = yard.told
    assert event.event_type == "Task Failed"
    assert event.detail()["properties"]["source"] == "dlq"
    assert yard.sent() == []


def test_a_flagged_task_is_cancelled_and_told(yard: LetterYard) -> None:
    yard.given(cancel_requested=True)
    yard.process()
    assert yard.task().state is TaskState.CANCELLED
    assert [event.event_type for event in yard.told] == ["Task Cancelled"]


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
def test_what_nobody_knows_is_put_aside_whole(
    yard: LetterYard, body: str | None, reason: str
) -> None:
    hidden = a_task(START, state=TaskState.WAITING)
    yard.memory.state.tasks[hidden.ref] = hidden
    done = yard.process(body)
    assert isinstance(done, PutAside)
    assert reason in done.reason
    (kept,) = yard.kept()
    assert kept["body"] == yard.letter(body).body
    assert (kept["queue"], kept["reason"]) == ("task-queue", done.reason)
    assert kept["messageAttributes"]["requestId"]["stringValue"] == "order-1"
    assert list(yard.memory.blobs.blobs) == [done.key]


def test_a_foreign_task_that_no_worker_could_adopt_is_adopted_and_sent(yard: LetterYard) -> None:
    """What met an outage three times is no poison."""
    yard.process('{"name": "scrape", "input": {"a": 1}}')
    assert yard.task(BARE).state is TaskState.QUEUED
    assert yard.memory.state.payloads[BARE].input == {"a": 1}
    assert yard.sent() == [BARE]
    assert yard.kept() == []


def test_a_foreign_task_that_was_adopted_is_treated_like_any_other(yard: LetterYard) -> None:
    yard.processor.adopter.adopt(ForeignTask(BARE, "scrape", None, {}))
    exhausted = replace(yard.task(BARE), attempt=MAX_ATTEMPTS)
    yard.memory.state.tasks[BARE] = exhausted
    yard.process('{"name": "scrape", "input": "another"}')
    assert yard.task(BARE).state is TaskState.FAILED


def test_a_task_that_somebody_takes_meanwhile_is_not_failed(
    yard: LetterYard, monkeypatch: pytest.MonkeyPatch
) -> None:
    yard.given(state=TaskState.PROCESSING, owner="dead", attempt=MAX_ATTEMPTS, fence=7)
    give_up = yard.memory.leases.give_up

    def too_late(*args: Any, **kwargs: Any) -> Task | None:
        yard.memory.state.tasks[TASK] = replace(
            yard.task(), fence=8, owner="w/9", lease_until_ms=yard.clock.now_ms() + 1000
        )
        return give_up(*args, **kwargs)

    monkeypatch.setattr(yard.memory.leases, "give_up", too_late)
    with pytest.raises(Unavailable, match="changed since"):
        yard.process()
    monkeypatch.undo()
    done = yard.process()
    assert isinstance(done, Handled)
    assert done.action == "drop"
    assert yard.told == []


def test_one_that_dies_before_telling_is_told_by_the_next(
    yard: LetterYard, monkeypatch: pytest.MonkeyPatch
) -> None:
    yard.given(state=TaskState.PROCESSING, owner="dead", attempt=MAX_ATTEMPTS)
    monkeypatch.setattr(yard.memory.bus, "put", crashing(yard.memory.bus.put, after=False))
    with pytest.raises(Crash):
        yard.process()
    monkeypatch.undo()
    yard.process()
    assert [event.event_type for event in yard.told] == ["Task Failed"]
    assert yard.told[0].detail()["properties"]["source"] == "dlq"


def test_nothing_is_put_aside_that_was_not_kept(
    yard: LetterYard, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*args: Any, **kwargs: Any) -> None:
        raise Unavailable("the bucket does not answer")

    monkeypatch.setattr(yard.memory.blobs, "put", refuse)
    with pytest.raises(Unavailable):
        yard.process("no JSON")
