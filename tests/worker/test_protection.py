"""Scale-in protection: when the worker asks for it, and how ECS hears of it."""

import asyncio
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest

from switchyard.adapters.ecs import NoScaleInProtection, scale_in_protection
from switchyard.domain.errors import Unavailable
from switchyard.domain.states import TaskState
from tests.worker.yard import WorkerYard
from worker.lease_timing import LeaseTiming
from worker.protection import Protection
from worker.stopping import Stop


def test_a_worker_is_protected_while_it_holds_a_task_and_not_once_it_stops(
    yard: WorkerYard,
) -> None:
    yard.add_task(given={"offline": {"delayMs": 300}})

    yard.work(until=lambda: bool(yard.told))

    assert yard.task().state is TaskState.COMPLETED
    assert yard.protection.asked == [1, None]


def test_a_worker_that_only_waits_asks_for_nothing(yard: WorkerYard) -> None:
    yard.add_task(state=TaskState.CANCELLED, settled_at_ms=1)

    yard.work(until=yard.quiet)

    assert yard.protection.asked == []


def test_a_refusal_is_no_reason_not_to_work(yard: WorkerYard) -> None:
    yard.protection.outage = Unavailable("no agent")
    yard.add_task()

    yard.work(until=yard.quiet)

    assert yard.task().state is TaskState.COMPLETED


def test_protection_is_asked_for_again_while_it_is_needed_and_then_dropped(
    yard: WorkerYard,
) -> None:
    asked = yard.protection.asked

    async def hold_for_a_while() -> None:
        ports, stop = yard.ports(), Stop(grace_seconds=0, sleep=asyncio.sleep)
        timing = LeaseTiming(
            lease_seconds=0.05, beat_seconds=0.01, kill_seconds=0, margin_seconds=0
        )
        protection = Protection(ports, timing, stop=stop)
        keeping = asyncio.create_task(protection.keep())
        with protection.holding_a_task(), protection.holding_a_task():
            await _until(lambda: asked == [1, 1])
        await _until(lambda: asked[-1] is None)
        stop.ask()
        await keeping

    asyncio.run(hold_for_a_while())

    assert asked.count(None) == 1


def test_protection_outlives_a_lease_by_far(yard: WorkerYard) -> None:
    timing = LeaseTiming(lease_seconds=45, beat_seconds=20, kill_seconds=5, margin_seconds=5)

    async def hold() -> None:
        stop = Stop(grace_seconds=0, sleep=asyncio.sleep)
        protection = Protection(yard.ports(), timing, stop=stop)
        keeping = asyncio.create_task(protection.keep())
        with protection.holding_a_task():
            await _until(lambda: bool(yard.protection.asked))
        stop.ask()
        await keeping

    asyncio.run(hold())

    assert yard.protection.asked == [3, None]


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


async def _until(holds: Any) -> None:
    async with asyncio.timeout(5):
        while not holds():  # noqa: ASYNC110 - conditions vary
            await asyncio.sleep(0.005)
