"""Heartbeats: when they are told, what they say, and that they never disturb a lease."""

import asyncio
import threading
from collections.abc import Sequence
from dataclasses import replace

import psutil
import pytest

from switchyard.contracts.events import Event, TaskHeartbeat
from switchyard.domain.errors import Unavailable
from switchyard.domain.states import TaskState
from switchyard.testing import ManualClock
from switchyard_worker.parent.receive.lease import Heartbeats, Watched
from switchyard_worker.parent.receiving import runtime_of
from switchyard_worker.parent.supervision.child_output import LastActivity
from switchyard_worker.parent.supervision.descendants import resident_bytes
from tests.builders import a_task, an_emitter
from tests.worker.harness import WorkerHarness

STARTED_MS = 1_000_000


class Bus:
    def __init__(self) -> None:
        self.events: list[Event] = []
        self.problem: Exception | None = None
        self.answer = threading.Event()
        self.answer.set()

    def put(self, events: Sequence[Event]) -> None:
        self.answer.wait(10)
        if self.problem:
            raise self.problem
        self.events += events

    @property
    def said(self) -> list[TaskHeartbeat]:
        return [TaskHeartbeat.model_validate(event.properties) for event in self.events]


class Beating:
    """An attempt whose beats a test makes."""

    def __init__(self, harness: WorkerHarness) -> None:
        self.clock = ManualClock(STARTED_MS)
        self.bus = Bus()
        self.activity = LastActivity(self.clock)
        runtime = runtime_of(replace(harness.ports(), clock=self.clock))
        self.heartbeats = Heartbeats(runtime, an_emitter(self.bus), worker_id="worker-1")
        self.task = a_task(
            "a",
            state=TaskState.PROCESSING,
            fence=3,
            started_at_ms=STARTED_MS,
            lease_until_ms=STARTED_MS + 45_000,
        )

    def watch(self) -> None:
        self.heartbeats.watch(Watched(4711, self.activity, memory=lambda pid: pid * 1000))

    async def beat(self, *, after_seconds: float = 20) -> None:
        self.clock.advance(after_seconds)
        self.heartbeats.beat(self.task)
        facts = self.heartbeats._emitting
        if facts:
            await asyncio.wait({facts})


@pytest.fixture
def beating(harness: WorkerHarness) -> Beating:
    return Beating(harness)


def numbers(beating: Beating) -> list[int]:
    return [said.heartbeat_number for said in beating.bus.said]


def test_the_first_beat_tells_everything(beating: Beating) -> None:
    async def story() -> None:
        beating.watch()
        beating.activity.note("sdk_query", "task-step")
        await beating.beat()

    asyncio.run(story())
    [event] = beating.bus.events
    assert event.timestamp == STARTED_MS + 20_000
    assert beating.bus.said[0].model_dump(
        by_alias=True, exclude={"run", "request_id", "job_id"}
    ) == {
        "fence": 3,
        "effectiveUntil": STARTED_MS + 45_000,
        "heartbeatNumber": 1,
        "elapsedMs": 20_000,
        "workerId": "worker-1",
        "processId": 4711,
        "memoryUsage": {"rss": 4_711_000},
        "lastActivity": {
            "type": "sdk_query",
            "stepName": "task-step",
            "timestamp": STARTED_MS,
        },
    }


def test_without_news_one_beat_a_minute_is_told(beating: Beating) -> None:
    async def story() -> None:
        beating.watch()
        for _ in range(8):
            await beating.beat(after_seconds=20)

    asyncio.run(story())
    assert numbers(beating) == [1, 4, 7]


def test_a_changed_activity_is_told_at_the_next_beat(beating: Beating) -> None:
    async def story() -> None:
        beating.watch()
        for activity in ("step_running", "sdk_query", "sdk_query", "waiting"):
            beating.activity.note(activity, "task-step")
            await beating.beat(after_seconds=10)
        beating.activity.note("waiting", "second-step")
        await beating.beat(after_seconds=10)

    asyncio.run(story())
    assert numbers(beating) == [1, 2, 4, 5]


def test_before_there_is_a_child_nothing_is_told(beating: Beating) -> None:
    async def story() -> None:
        await beating.beat()
        beating.watch()
        await beating.beat()

    asyncio.run(story())
    assert numbers(beating) == [2]


def test_what_the_bus_did_not_take_is_told_at_the_next_beat(beating: Beating) -> None:
    async def story() -> None:
        beating.watch()
        beating.bus.problem = Unavailable("the bus is down")
        await beating.beat()
        beating.bus.problem = None
        await beating.beat()

    asyncio.run(story())
    assert numbers(beating) == [2]


def test_a_slow_bus_costs_beats_and_never_a_second_telling(beating: Beating) -> None:
    async def story() -> None:
        beating.watch()
        beating.bus.answer.clear()
        for _ in range(5):
            beating.clock.advance(60)
            beating.heartbeats.beat(beating.task)
            await asyncio.sleep(0)
        beating.bus.answer.set()
        await beating.beat(after_seconds=0)

    asyncio.run(story())
    assert numbers(beating) == [1]


def test_a_bug_is_not_taken_for_an_outage(beating: Beating) -> None:
    async def story() -> None:
        beating.watch()
        beating.bus.problem = ZeroDivisionError()
        await beating.beat()
        with pytest.raises(ZeroDivisionError):
            await beating.beat()

    asyncio.run(story())


def test_a_running_task_tells_its_memory_and_who_runs_it(harness: WorkerHarness) -> None:
    harness.add_task(given={"offline": {"delayMs": 1_000}})

    harness.work(until=harness.quiet)

    last = harness.heartbeats[-1]  # the first may come before the child has said anything
    said = TaskHeartbeat.model_validate(last.properties)
    assert said.heartbeat_number >= 1
    assert said.worker_id == "worker-1"
    assert said.memory_usage.rss > 1_000_000
    assert said.last_activity is not None
    assert (said.last_activity.type, said.last_activity.step_name) == ("sdk_query", "task-step")
    assert said.effective_until > last.timestamp
    assert harness.emitted == ["Task Processing Started", "Task Completed"]


def test_a_bus_that_is_down_costs_no_lease(harness: WorkerHarness) -> None:
    put = harness.memory.bus.put

    def refuse_heartbeats(events: Sequence[Event]) -> None:
        if any(event.event_type == TaskHeartbeat.event_type for event in events):
            raise Unavailable("the bus is down")
        put(events)

    harness.memory.bus.put = refuse_heartbeats  # type: ignore[method-assign]
    harness.configure(visibility_extension_amount=1)
    harness.add_task(given={"offline": {"delayMs": 2_000}})

    harness.work(until=harness.quiet)

    assert harness.task().state is TaskState.COMPLETED
    assert harness.task().attempt == 1
    assert harness.heartbeats == []


def test_the_memory_of_a_process_is_that_of_its_whole_tree() -> None:
    own = psutil.Process()
    with psutil.Popen(["sleep", "60"]) as child:
        try:
            together = resident_bytes(own.pid)
            assert together >= own.memory_info().rss // 2 + child.memory_info().rss
            assert resident_bytes(child.pid) == child.memory_info().rss
        finally:
            child.kill()
    assert resident_bytes(child.pid) == 0
