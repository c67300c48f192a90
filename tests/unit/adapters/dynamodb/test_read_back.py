"""Answers that get lost on the way: the item says whether a write was done, and whose it was."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import pytest

from switchyard.adapters.dynamodb.job_intake import DynamoDbJobIntake
from switchyard.adapters.dynamodb.payloads import DynamoDbPayloads
from switchyard.adapters.dynamodb.table import DynamoDbTable
from switchyard.adapters.dynamodb.task_graph import DynamoDbTaskGraph
from switchyard.adapters.dynamodb.task_leases import DynamoDbTaskLeases
from switchyard.domain.errors import AnswerLost, LeaseLost
from switchyard.domain.prompts.artifacts import RESULT_FILE
from switchyard.domain.states import TaskState
from switchyard.domain.tasks.claim_refusals import Busy
from switchyard.domain.tasks.task import Json, Lease, Outcome, Task
from switchyard.ports import Claimed, ClaimRefused
from switchyard.testing.transport import MemoryBlobStore
from tests.builders import JOB, NOW_MS, a_plan, a_task
from tests.contract.clouds import simulated_cloud
from tests.fakes.dynamodb.lossy_line import (
    Fate,
    Line,
    and_then,
    answer_lost,
    not_sent,
    repeated,
    throttled,
)
from tests.fakes.tables import state_table

ROOT = JOB.task("scrape-store")
LEASE_MS = 45_000
MUCH_LATER = NOW_MS + 100 * LEASE_MS


@dataclass
class Place:
    line: Line
    leases: DynamoDbTaskLeases
    graph: DynamoDbTaskGraph
    payloads: DynamoDbPayloads
    others: DynamoDbTaskLeases
    """Somebody else's, whose answers arrive."""

    def task(self) -> Task:
        task = self.graph.find(ROOT)
        assert task is not None
        return task

    def take_over(self) -> Lease:
        answer = self.others.claim(ROOT, owner="other", now_ms=MUCH_LATER, lease_ms=LEASE_MS)
        assert isinstance(answer, Claimed)
        return answer.lease


def a_place(client: Any, name: str) -> Place:
    line = Line(client)
    state_table(client, name)
    table, undisturbed = DynamoDbTable(line, name), DynamoDbTable(client, name)
    blobs = MemoryBlobStore()
    blobs.put(f"at/{RESULT_FILE}", b'"large"', content_type="application/json")
    payloads = DynamoDbPayloads(undisturbed, blobs)
    plan = a_plan()
    tasks = [task for task in plan.tasks if task.ref != ROOT]
    root = a_task(state=TaskState.QUEUED, fence=2, ready_at_ms=NOW_MS, due_at_ms=NOW_MS)
    DynamoDbJobIntake(undisturbed, payloads).write(replace(plan, tasks=(*tasks, root)))
    return Place(
        line,
        DynamoDbTaskLeases(table),
        DynamoDbTaskGraph(undisturbed),
        payloads,
        DynamoDbTaskLeases(undisturbed),
    )


@pytest.fixture
def dynamodb() -> Iterator[Any]:
    with simulated_cloud() as cloud:
        yield cloud.client("dynamodb")


@pytest.fixture
def place(dynamodb: Any) -> Place:
    return a_place(dynamodb, "disturbed")


@pytest.fixture
def calm(dynamodb: Any) -> Place:
    return a_place(dynamodb, "calm")


@dataclass(frozen=True)
class Request:
    name: str
    ask: Callable[[Place, Lease], Task | None]
    claims_first: bool = True


def claim(place: Place, _: Lease) -> Task:
    answer = place.leases.claim(ROOT, owner="w/2", now_ms=NOW_MS, lease_ms=LEASE_MS)
    assert isinstance(answer, Claimed)
    assert answer.lease == Lease(answer.task, "w/2")
    return answer.task


def renew(place: Place, lease: Lease) -> Task:
    return place.leases.renew(lease, lease_until_ms=NOW_MS + 2 * LEASE_MS)


def release(place: Place, lease: Lease) -> Task:
    return place.leases.release(
        lease, not_before_ms=NOW_MS + 9, now_ms=NOW_MS, give_attempt_back=True, error="network"
    )


def give_up(place: Place, lease: Lease) -> Task | None:
    after = NOW_MS + LEASE_MS + 1
    return place.leases.give_up(lease.task, Outcome(state=TaskState.FAILED), now_ms=after)


def settling(state: TaskState, output: Json = None) -> Callable[[Place, Lease], Task]:
    outcome = Outcome(state=state, duration_ms=7, artifacts="at/")
    return lambda place, lease: place.leases.settle(lease, outcome, output=output, now_ms=NOW_MS)


CLAIM = Request("claim", claim, claims_first=False)
RENEW = Request("renew", renew)
RELEASE = Request("release", release)
GIVE_UP = Request("give up", give_up)
SETTLEMENTS = [
    Request("settle failed", settling(TaskState.FAILED)),
    Request("settle timed out", settling(TaskState.TIMED_OUT)),
    Request("settle completed, small", settling(TaskState.COMPLETED, {"a": 1})),
    Request("settle completed, large", settling(TaskState.COMPLETED, "x" * 9000)),
]
REQUESTS = [CLAIM, RENEW, RELEASE, GIVE_UP, *SETTLEMENTS]


def named(request: Request) -> str:
    return request.name


every_request = pytest.mark.parametrize("request_", REQUESTS, ids=named)


def begin(place: Place, request: Request) -> Lease:
    """Whatever the request needs before it."""
    if not request.claims_first:
        return Lease(place.task(), "nobody")
    answer = place.others.claim(ROOT, owner="w/1", now_ms=NOW_MS, lease_ms=LEASE_MS)
    assert isinstance(answer, Claimed)
    return answer.lease


def expected(calm: Place, request: Request) -> Task:
    assert request.ask(calm, begin(calm, request)) is not None
    return calm.task()


@every_request
@pytest.mark.parametrize("fate", [answer_lost, repeated])
def test_what_was_done_is_answered_as_done_and_was_done_once(
    place: Place, calm: Place, request_: Request, fate: Fate
) -> None:
    lease = begin(place, request_)
    place.line.write_fate = fate
    answer = request_.ask(place, lease)
    after = expected(calm, request_)
    assert place.task() == after
    assert answer == replace(after, due_at_ms=answer.due_at_ms if answer else None)
    assert place.payloads.read(ROOT) == calm.payloads.read(ROOT)


@every_request
def test_a_write_that_was_not_done_has_an_unknown_outcome_and_changed_nothing(
    place: Place, request_: Request
) -> None:
    lease = begin(place, request_)
    before = place.task()
    place.line.write_fate = not_sent
    with pytest.raises(AnswerLost):
        request_.ask(place, lease)
    assert place.task() == before
    assert place.payloads.read(ROOT).output is None


@every_request
@pytest.mark.parametrize("read_fate", [not_sent, throttled])
@pytest.mark.parametrize("fate", [answer_lost, not_sent])
def test_what_cannot_be_read_back_is_unknown_until_it_is_asked_for_again(
    place: Place, calm: Place, request_: Request, fate: Fate, read_fate: Fate
) -> None:
    lease = begin(place, request_)
    place.line.write_fate, place.line.read_fate = fate, read_fate
    with pytest.raises(AnswerLost):
        request_.ask(place, lease)
    assert request_.ask(place, lease) is not None
    assert place.task() == expected(calm, request_)


@pytest.mark.parametrize(
    ("request_", "fate"),
    [
        *[(request, answer_lost) for request in (RENEW, RELEASE)],
        *[(request, not_sent) for request in (RENEW, RELEASE, *SETTLEMENTS)],
    ],
    ids=lambda value: getattr(value, "name", None) or value.__name__,
)
def test_a_task_that_was_taken_over_meanwhile_is_lost(
    place: Place, request_: Request, fate: Fate
) -> None:
    lease = begin(place, request_)
    place.line.write_fate = and_then(fate, place.take_over)
    with pytest.raises(LeaseLost):
        request_.ask(place, lease)
    assert (place.task().state, place.task().owner) == (TaskState.PROCESSING, "other")


@pytest.mark.parametrize("fate", [answer_lost, not_sent])
def test_a_claim_that_another_worker_has_taken_over_is_busy(place: Place, fate: Fate) -> None:
    place.line.write_fate = and_then(fate, place.take_over)
    answer = place.leases.claim(ROOT, owner="w/1", now_ms=NOW_MS, lease_ms=LEASE_MS)
    assert isinstance(answer, ClaimRefused)
    assert answer.decision == Busy(f"busy until {MUCH_LATER + LEASE_MS}")
    assert answer.task == place.task()


def test_a_task_that_was_claimed_meanwhile_is_not_given_up(place: Place) -> None:
    lease = begin(place, GIVE_UP)
    place.line.write_fate = and_then(not_sent, place.take_over)
    assert give_up(place, lease) is None
    assert place.task().owner == "other"


@pytest.mark.parametrize("request_", [*SETTLEMENTS, GIVE_UP], ids=named)
def test_the_same_outcome_by_another_worker_is_not_ours(
    place: Place, calm: Place, request_: Request
) -> None:
    lease = begin(place, request_)
    state = expected(calm, request_).state

    def settle_first() -> None:
        outcome = Outcome(state=state, error="theirs")
        place.others.settle(place.take_over(), outcome, output="theirs", now_ms=MUCH_LATER)

    place.line.write_fate = and_then(not_sent, settle_first)
    if request_ is GIVE_UP:
        assert request_.ask(place, lease) is None
    else:
        with pytest.raises(LeaseLost):
            request_.ask(place, lease)
    stored = place.task()
    assert (stored.state, stored.owner, stored.fence) == (state, "other", lease.fence + 1)
