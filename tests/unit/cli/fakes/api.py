"""The outside as the command line sees it: an API that answers as told, and a local cloud."""

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
from pydantic import BaseModel

from switchyard.contracts.jobs import JobView, TaskSummary, TaskView
from switchyard.contracts.overview import Health
from switchyard.domain.measuring.scaling import ScalingPolicy
from switchyard_local.cloud import Status
from switchyard_local.endpoint import Endpoint
from switchyard_local.errors import CloudError, not_running
from switchyard_local.functions.invoke import Invoked
from switchyard_local.say import Say

JOB_ID = "job-00000000-0000-4000-8000-000000000001"
TRACE_ID = "4bf92f3577b34da6a3ce929d0e0e4736"
URL = "http://127.0.0.1:4580/api"
KEY = "the-local-key"
WELL = Health(stage="local", version="1.2.3")
NOW_MS = 1_800_000_000_000
CREATED = datetime.fromtimestamp(NOW_MS / 1000, tz=UTC)

LISTING = "GET /task-definitions"
Answer = Callable[[httpx.Request], httpx.Response]


def answer(body: BaseModel | dict[str, Any], status: int = 200) -> httpx.Response:
    shown = body.model_dump(mode="json", by_alias=True) if isinstance(body, BaseModel) else body
    return httpx.Response(status, json=shown)


def problem(status: int, detail: str, **problems: str) -> httpx.Response:
    entries = [{"path": p.replace("__", "."), "message": m} for p, m in problems.items()]
    body = {"title": "No", "status": status, "detail": detail, "problems": entries}
    return httpx.Response(status, json=body)


def a_task(task_id: str, status: str, *, after: tuple[str, ...] = (), **facts: Any) -> TaskSummary:
    known: dict[str, Any] = {"name": task_id, "attempt": 0 if status == "waiting" else 1, **facts}
    if status not in {"waiting", "pending"}:
        known.setdefault("started_at", CREATED)
    if status in {"completed", "failed"}:
        known.setdefault("settled_at", CREATED + timedelta(seconds=2))
    return TaskSummary(task_id=task_id, status=status, depends_on=after, **known)


def a_job(status: str, *tasks: TaskSummary, **facts: Any) -> JobView:
    ended = (
        CREATED + timedelta(seconds=4) if status in {"completed", "failed", "cancelled"} else None
    )
    known: dict[str, Any] = {"name": "brand", "job_id": JOB_ID, "trace_id": TRACE_ID}
    known |= {"completed_at": ended, **facts}
    return JobView(
        status=status,
        total_tasks=len(tasks),
        progress={},
        created_at=CREATED,
        tasks=tasks,
        **known,
    )


def a_task_view(task: TaskSummary, **facts: Any) -> TaskView:
    return TaskView(
        **task.model_dump(),
        job_id=JOB_ID,
        request_id=f"{JOB_ID}__{task.task_id}",
        definition_version=1,
        max_attempts=3,
        **facts,
    )


@dataclass
class FakeApi:
    """Answers a route with its next answer; the last one stays."""

    routes: dict[str, list[Answer | httpx.Response | BaseException]] = field(
        default_factory=lambda: {"GET /health": [answer(WELL)]}
    )
    requests: list[httpx.Request] = field(default_factory=list)

    def on(self, route: str, *answers: Answer | httpx.Response | BaseException) -> None:
        self.routes[route] = list(answers)

    def sent(self, route: str) -> list[Any]:
        return [json.loads(r.content) for r in self.requests if self._route(r) == route]

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        route = self._route(request)
        if route not in self.routes and route.startswith("GET /task-definitions"):
            empty = answer({"definitions": []})
            return empty if route == LISTING else problem(404, "There is no such definition.")
        answers = self.routes[route]
        found = answers.pop(0) if len(answers) > 1 else answers[0]
        if isinstance(found, BaseException):
            raise found
        return found if isinstance(found, httpx.Response) else found(request)

    @staticmethod
    def _route(request: httpx.Request) -> str:
        return f"{request.method} {request.url.path.removeprefix('/api')}"


@dataclass
class FakeCloud:
    running: bool = True
    healthy: bool = True
    worker_lives: bool = True
    calls: list[str] = field(default_factory=list)
    invoked: Invoked | None = None
    functions: Sequence[str] | None = None
    supervised: ScalingPolicy | None = None
    worker_log: Sequence[str] = ()
    worker_exit_code: int = 0

    def up(self, say: Say, *, functions: Sequence[str] | None = None) -> Endpoint:
        self.calls.append("up")
        self.functions = functions
        say("Deploying")
        self.running = True
        return self.endpoint()

    def down(self, say: Say) -> None:
        self.calls.append("down")
        say("Stopping")
        self.running = False

    def work(self, pool: str, say: Say, *, read: Callable[[str], None]) -> int:
        self.calls.append(f"work {pool}")
        say("Starting")
        for line in self.worker_log:
            read(line)
        return self.worker_exit_code

    @contextmanager
    def borrowed(self, say: Say, *, functions: Sequence[str] = ()) -> Iterator[bool]:
        starts_here = not self.running
        self.up(say, functions=functions)
        try:
            yield starts_here
        finally:
            if starts_here:
                self.down(say)

    def status(self) -> Status:
        pid = 7 if self.running else None
        url = URL if self.running else None
        worker = pid if self.worker_lives else None
        healthy = self.running and self.healthy and self.worker_lives
        return Status(port=4580, ministack_pid=pid, worker_pid=worker, api_url=url, healthy=healthy)

    def require_worker(self) -> None:
        if not self.worker_lives:
            raise CloudError("The worker has ended; its log: worker.log. Try `switchyard up`.")

    def supervise(self, policy: ScalingPolicy, say: Say) -> None:
        self.supervised = policy
        say("1 → 5 workers: 90 waiting and 0 in flight need 5")

    def invoke(self, function: str, event: bytes) -> Invoked:
        self.calls.append(f"invoke {function} {event.decode()}")
        assert self.invoked is not None
        return self.invoked

    def endpoint(self) -> Endpoint:
        if not self.running:
            raise CloudError(not_running())
        return Endpoint(
            api_url=URL,
            api_key=KEY,
            tenant="local",
            aws_endpoint_url="http://127.0.0.1:4580",
            region="eu-central-1",
            port=4580,
        )
