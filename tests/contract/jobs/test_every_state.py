"""Every state, every request: what is answered, and that a refusal changes nothing."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import pytest

from switchyard.domain.errors import LeaseLost
from switchyard.domain.states import SETTLED, TaskKind, TaskState
from switchyard.domain.tasks.claim_refusals import Busy, Done, Exhausted, Flagged, NotYet
from switchyard.domain.tasks.task import Lease, Outcome, Payload, Task
from switchyard.ports import Claimed, ClaimRefused
from tests.builders import JOB, NOW_MS, a_plan, a_task
from tests.contract.conftest import Backend

LEASE_MS = 45_000
FENCE = 4
ROOT = JOB.task("scrape-store")
LATER = NOW_MS + 1

Test = TypeVar("Test", bound=Callable[..., None])
Decision = Busy | Done | NotYet | Exhausted | Flagged


@dataclass(frozen=True)
class Case:
    """A task in some state; `refusal` is `None` if it may be claimed."""

    name: str
    facts: dict[str, Any]
    refusal: Decision | None = None
    free: bool = False
    """Nobody holds it: it may be given up."""

    @property
    def held(self) -> bool:
        return self.facts["state"] is TaskState.PROCESSING

    def put(self, backend: Backend) -> Task:
        owned = {"owner": "w1"} if self.held or self.facts["state"] in SETTLED else {}
        due = {"fence": FENCE, "due_at_ms": NOW_MS + 99}
        task = a_task(**{"attempt": 1} | owned | due | self.facts)
        plan = a_plan({ROOT.task_id: []})
        others = [other for other in plan.tasks if other.ref != ROOT]
        backend.intake.write(replace(plan, tasks=(*others, task)))
        return the_task(backend)


def _open(name: str, *, free: bool = True, **facts: Any) -> list[Case]:
    """The same state as it is, flagged, and exhausted."""
    return [
        Case(name, facts, free=free),
        *(
            Case(
                f"{name}, flagged at attempt {attempt}",
                facts | {"cancel_requested": True, "attempt": attempt},
                Flagged("cancellation was requested"),
                free=free,
            )
            for attempt in (1, 3)
        ),
        Case(
            f"{name}, exhausted",
            facts | {"attempt": 3},
            Exhausted("exhausted after 3 attempts"),
            free=free,
        ),
    ]


def _live() -> list[Case]:
    facts = {"state": TaskState.PROCESSING, "lease_until_ms": NOW_MS}
    busy = Busy(f"busy until {NOW_MS}")
    return [
        Case("live", facts, busy),
        Case("live, flagged", facts | {"cancel_requested": True}, busy),
        Case("live, exhausted", facts | {"attempt": 3}, busy),
    ]


def _waiting() -> list[Case]:
    facts = {
        "state": TaskState.WAITING,
        "attempt": 0,
        "waiting_on": frozenset({"a@1", "b@1"}),
    }
    refusal = NotYet("waiting on 2 parents", wait_ms=None)
    return [
        Case("waiting", facts, refusal),
        Case("waiting, flagged", facts | {"cancel_requested": True}, refusal),
    ]


CASES = [
    *_waiting(),
    Case(
        "of a newer version",
        {"state": TaskState.UNKNOWN, "attempt": 3, "cancel_requested": True},
        NotYet("in a state of a newer version", wait_ms=60_000),
    ),
    *_open("ready", state=TaskState.READY),
    *_open("queued", state=TaskState.QUEUED, not_before_ms=NOW_MS),
    Case(
        "queued for later",
        {"state": TaskState.QUEUED, "not_before_ms": LATER},
        NotYet(f"not before {LATER}", wait_ms=1),
        free=True,
    ),
    Case(
        "held",
        {"state": TaskState.HELD, "kind": TaskKind.APPROVAL, "attempt": 0},
        Busy("no worker runs it: it is an approval"),
        free=True,
    ),
    Case(
        "ready to be held",
        {"state": TaskState.READY, "kind": TaskKind.WAIT, "attempt": 0},
        Busy("no worker runs it: it is a wait"),
        free=True,
    ),
    *_live(),
    *_open("lapsed", state=TaskState.PROCESSING, lease_until_ms=NOW_MS - 1),
    *[
        Case(
            state.lower(),
            {"state": state, "settled_at_ms": 5},
            Done(f"done: {state.lower()} at 5"),
        )
        for state in sorted(SETTLED)
    ],
]
# Moto would take longer than all others together, to show the same of the same adapter.
PLACES = pytest.mark.parametrize(
    "backend",
    ["memory", pytest.param("ministack", marks=pytest.mark.long), "simulated"],
    indirect=True,
)


def every_case(test: Test) -> Test:
    each: Test = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)(test)
    everywhere: Test = PLACES(each)
    return everywhere


def the_task(backend: Backend) -> Task:
    task = backend.graph.find(ROOT)
    assert task is not None
    return task


def test_the_cases_name_every_state() -> None:
    assert {case.facts["state"] for case in CASES} == set(TaskState)


@every_case
def test_claim(backend: Backend, case: Case) -> None:
    before = case.put(backend)
    answer = backend.leases.claim(ROOT, owner="w2", now_ms=NOW_MS, lease_ms=LEASE_MS)
    if case.refusal is None:
        assert isinstance(answer, Claimed)
        assert (answer.task.state, answer.task.owner) == (TaskState.PROCESSING, "w2")
        assert (answer.task.fence, answer.task.attempt) == (FENCE + 1, before.attempt + 1)
        assert the_task(backend) == answer.task
    else:
        assert answer == ClaimRefused(before, case.refusal)
        assert the_task(backend) == before


@dataclass(frozen=True)
class Request:
    name: str
    ask: Callable[[Backend, Lease], Task]
    becomes: TaskState
    """What it makes of a task that is held."""


def settling(state: TaskState) -> Request:
    def settle(backend: Backend, lease: Lease) -> Task:
        return backend.leases.settle(lease, Outcome(state=state), output="o", now_ms=NOW_MS)

    return Request(f"settle {state.lower()}", settle, state)


REQUESTS = [
    Request(
        "renew",
        lambda backend, lease: backend.leases.renew(lease, lease_until_ms=NOW_MS + LEASE_MS),
        TaskState.PROCESSING,
    ),
    Request(
        "release",
        lambda backend, lease: backend.leases.release(
            lease, not_before_ms=LATER, now_ms=NOW_MS, give_attempt_back=True
        ),
        TaskState.QUEUED,
    ),
    *map(settling, (TaskState.COMPLETED, TaskState.FAILED, TaskState.TIMED_OUT)),
]
every_request = pytest.mark.parametrize("request_", REQUESTS, ids=lambda request: request.name)


def refused(backend: Backend, request: Request, lease: Lease) -> None:
    before, data = the_task(backend), backend.payloads.read(ROOT)
    with pytest.raises(LeaseLost):
        request.ask(backend, lease)
    assert (the_task(backend), backend.payloads.read(ROOT)) == (before, data)


@every_request
@every_case
def test_a_request_of_the_owner(backend: Backend, case: Case, request_: Request) -> None:
    before = case.put(backend)
    lease = Lease(before, before.owner or "w1")
    done_already = not case.held and before.state is request_.becomes
    if not case.held and not done_already:
        refused(backend, request_, lease)
        return
    answer = request_.ask(backend, lease)
    assert (answer.state, answer.fence) == (request_.becomes, FENCE)
    stored = the_task(backend)
    assert (stored.state, stored.fence) == (request_.becomes, FENCE)
    if done_already:
        assert answer == stored == before
        assert backend.payloads.read(ROOT) == Payload()


@every_request
@every_case
def test_a_request_of_anybody_else(backend: Backend, case: Case, request_: Request) -> None:
    before = case.put(backend)
    refused(backend, request_, Lease(replace(before, fence=FENCE - 1), before.owner or "w1"))
    if request_.becomes is not TaskState.QUEUED or case.held:  # a released task has no owner
        refused(backend, request_, Lease(before, "thief"))


@every_case
def test_give_up(backend: Backend, case: Case) -> None:
    before = case.put(backend)
    outcome = Outcome(state=TaskState.FAILED, error="exhausted")
    stale = replace(before, fence=FENCE - 2)
    assert backend.leases.give_up(stale, outcome, now_ms=NOW_MS) is None
    assert the_task(backend) == before
    answer = backend.leases.give_up(before, outcome, now_ms=NOW_MS)
    if case.free:
        assert answer == the_task(backend)
        assert answer is not None
        assert (answer.state, answer.fence, answer.outcome) == (
            TaskState.FAILED,
            FENCE + 1,
            outcome,
        )
    else:
        assert answer is None
        assert the_task(backend) == before
