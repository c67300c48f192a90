"""Scale-in protection: when the worker asks for it, and how ECS hears of it."""

import asyncio
import json
import threading
from collections.abc import Iterator, Sequence
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest

from switchyard.adapters.ecs import NoScaleInProtection, scale_in_protection
from switchyard.contracts.events import Event
from switchyard.domain.errors import Unavailable
from switchyard.domain.health.rollout import minutes_to_protect
from switchyard.domain.states import TaskState
from switchyard.domain.tasks.task import Lease
from switchyard.testing.transport import MemoryBus
from switchyard_worker.parent.health.stop import Stop
from switchyard_worker.parent.receive.lease import LeaseTiming
from switchyard_worker.parent.receive.rollout import Protection
from switchyard_worker.parent.receiving import runtime_of
from tests.builders import a_task
from tests.worker.harness import WorkerHarness
from tests.worker.loop_harness import run, until


def test_a_worker_is_protected_for_the_time_of_its_attempt_before_that_starts(
    harness: WorkerHarness,
) -> None:
    harness.add_task(given={"offline": {"delayMs": 300}}, definition={"timeout": 30 * 60 * 1000})
    asked_by_then: list[list[int | None]] = []

    class WatchedBus(MemoryBus):
        def put(self, events: Sequence[Event]) -> None:
            asked_by_then.append(list(harness.protection.asked))
            super().put(events)

    harness.memory.bus = WatchedBus()

    harness.work(until=lambda: bool(harness.emitted))

    assert harness.task().state is TaskState.COMPLETED
    assert harness.protection.asked == [40, None], "30 minutes, and 10 to upload and settle"
    assert asked_by_then[0] == [40], "before Task Processing Started"


def test_a_worker_that_only_waits_asks_for_nothing(harness: WorkerHarness) -> None:
    harness.add_task(state=TaskState.CANCELLED, settled_at_ms=1)

    harness.work(until=harness.quiet)

    assert harness.protection.asked == []


def test_a_refusal_is_no_reason_not_to_work(harness: WorkerHarness) -> None:
    harness.protection.outage = Unavailable("no agent")
    harness.add_task()

    harness.work(until=harness.quiet)

    assert harness.task().state is TaskState.COMPLETED


class Held:
    """A protection with a short lease, which looks again twenty times a second."""

    def __init__(self, harness: WorkerHarness, *, lease_seconds: float = 0.05) -> None:
        self.asked = harness.protection.asked
        self.stop = Stop(grace_seconds=0, sleep=asyncio.sleep)
        timing = LeaseTiming(
            lease_seconds=lease_seconds, beat_seconds=0.01, kill_seconds=0, margin_seconds=0
        )
        self.protection = Protection(
            runtime_of(harness.ports()), harness.protection, timing, stop=self.stop
        )
        self.keeping = asyncio.create_task(self.protection.keep())

    async def end(self) -> None:
        self.stop.ask()
        await self.keeping


def lease(task_id: str) -> Lease:
    return Lease(task=a_task(task_id), owner=f"worker-1/{task_id}")


def test_tasks_of_the_same_length_are_covered_by_one_request(harness: WorkerHarness) -> None:
    async def story() -> None:
        held = Held(harness)
        for task_id in ("a", "b", "c"):
            with held.protection.holding(lease(task_id)):
                await held.protection.cover(lease(task_id), seconds=300)
        assert held.asked == [15]
        await held.end()

    run(story())


def test_a_longer_attempt_renews_the_protection_without_waiting_for_it(
    harness: WorkerHarness,
) -> None:
    async def story() -> None:
        held = Held(harness)
        with held.protection.holding(lease("a")), held.protection.holding(lease("b")):
            await held.protection.cover(lease("a"), seconds=300)
            await held.protection.cover(lease("b"), seconds=3600)
            assert held.asked == [15]
            await until(lambda: held.asked == [15, 70])
            await asyncio.sleep(0.2)
        assert held.asked == [15, 70], "what is granted is not asked for again"
        await held.end()

    run(story())


def test_protection_is_dropped_once_no_task_is_held(harness: WorkerHarness) -> None:
    async def story() -> None:
        held = Held(harness)
        with held.protection.holding(lease("a")):
            await held.protection.cover(lease("a"), seconds=60)
        await until(lambda: held.asked == [11, None])
        await held.end()
        assert held.asked == [11, None]

    run(story())


def test_a_refused_request_is_made_again_while_the_task_runs(harness: WorkerHarness) -> None:
    async def story() -> None:
        held = Held(harness)
        harness.protection.outage = Unavailable("no agent")
        with held.protection.holding(lease("a")):
            await held.protection.cover(lease("a"), seconds=60)
            harness.protection.outage = None
            await until(lambda: held.asked == [11, 11])
        await held.end()

    run(story())


def test_a_protection_that_could_not_be_dropped_is_dropped_later(harness: WorkerHarness) -> None:
    """It lasts for hours, and would hold up a deployment for as long."""

    async def story() -> None:
        held = Held(harness)
        with held.protection.holding(lease("a")):
            await held.protection.cover(lease("a"), seconds=12 * 3600)
            harness.protection.outage = Unavailable("no agent")
        await until(lambda: held.asked.count(None) == 2)
        harness.protection.outage = None
        await until(lambda: held.asked.count(None) == 3)
        await asyncio.sleep(0.2)
        assert held.asked == [730, None, None, None]
        await held.end()

    run(story())


def test_a_replaced_worker_drops_its_protection_at_once(harness: WorkerHarness) -> None:
    async def story() -> None:
        held = Held(harness, lease_seconds=3600)
        with held.protection.holding(lease("a")):
            await held.protection.cover(lease("a"), seconds=60)
            await until(lambda: held.asked == [11])
            await asyncio.sleep(0.05)
            held.protection.draining.set()
            await asyncio.sleep(0.05)
            assert held.asked == [11], "not while it holds a task"
        await until(lambda: held.asked == [11, None])
        await held.end()

    run(story())


@pytest.mark.parametrize(
    ("seconds", "minutes"), [(-5, 10), (0, 10), (1, 11), (300, 15), (43_200, 730), (999_999, 2880)]
)
def test_protection_is_asked_for_in_whole_minutes_that_ecs_accepts(
    seconds: float, minutes: int
) -> None:
    assert minutes_to_protect(seconds) == minutes


class Agent:
    """An ECS agent on the loopback."""

    def __init__(self) -> None:
        self.heard: list[tuple[str, str, Any]] = []
        self.status, self.answer = 200, b'{"protection": {"ProtectionEnabled": true}}'
        agent = self

        class Handler(BaseHTTPRequestHandler):
            def do_PUT(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                agent.heard.append((self.path, self.headers["Content-Type"], json.loads(body)))
                self.send_response(agent.status)
                self.end_headers()
                self.wfile.write(agent.answer)

            def log_message(self, *_: Any) -> None:
                pass

        self.server = HTTPServer(("127.0.0.1", 0), Handler)

    @property
    def environment(self) -> dict[str, str]:
        return {"ECS_AGENT_URI": f"http://127.0.0.1:{self.server.server_port}/api/id"}


@pytest.fixture
def agent() -> Iterator[Agent]:
    agent = Agent()
    serving = threading.Thread(target=agent.server.serve_forever, args=(0.01,))
    serving.start()
    yield agent
    agent.server.shutdown()
    serving.join()
    agent.server.server_close()


def test_the_agent_is_told_in_its_own_words_and_not_through_a_proxy(
    agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    protection = scale_in_protection(agent.environment)

    protection.protect(minutes=3)
    protection.drop()

    where = ("/api/id/task-protection/v1/state", "application/json")
    assert agent.heard == [
        (*where, {"ProtectionEnabled": True, "ExpiresInMinutes": 3}),
        (*where, {"ProtectionEnabled": False}),
    ]


@pytest.mark.parametrize(
    ("status", "answer"),
    [
        (200, b'{"failure": {"Reason": "DEPLOYMENT_BLOCKED"}}'),
        (400, b'{"error": {"Code": "AccessDeniedException"}}'),
        (200, b"busy"),
        (200, b"[]"),
    ],
)
def test_whatever_the_agent_refuses_is_unavailable(
    agent: Agent, status: int, answer: bytes
) -> None:
    agent.status, agent.answer = status, answer

    with pytest.raises(Unavailable, match="ECS agent"):
        scale_in_protection(agent.environment).protect(minutes=3)


def test_an_agent_that_is_not_there_is_unavailable() -> None:
    with pytest.raises(Unavailable):
        scale_in_protection({"ECS_AGENT_URI": "http://127.0.0.1:1"}).drop()


def test_without_an_agent_nobody_is_asked() -> None:
    protection = scale_in_protection({})

    assert isinstance(protection, NoScaleInProtection)
    protection.protect(minutes=3)
    protection.drop()
