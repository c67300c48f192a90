"""Every transition of a task in every state: what it makes of the task, or why it is refused."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import pytest

from switchyard.domain.jobs.redrive import Reopening
from switchyard.domain.states import TaskState
from switchyard.domain.tasks import due, edge_transitions, held_transitions, transitions
from switchyard.domain.tasks.readiness import Readiness
from switchyard.domain.tasks.task import Lease, LifeSigns, Outcome, Overrides, Task
from switchyard.domain.transition import Transition, TransitionRefused, applied, attempt
from tests.builders import NOW_MS, a_task

LEASE_MS = 45_000
FENCE = 4
S = TaskState
OUTCOME = Outcome(state=S.FAILED, error="boom")
EVERY = set(TaskState)


def in_state(state: TaskState, **facts: Any) -> Task:
    """A task as it looks in that state; a lease is over, and nothing is waited for."""
    owned: dict[str, Any] = (
        {"owner": "w/1", "lease_until_ms": NOW_MS - 1} if state is S.PROCESSING else {}
    )
    known: dict[str, Any] = {"fence": FENCE, "attempt": 1, "due_at_ms": NOW_MS + 9, "resends": 2}
    return a_task(state=state, **known | owned | facts)


def lease_of(task: Task) -> Lease:
    return Lease(task, task.owner or "w/1")


@dataclass(frozen=True)
class Case:
    make: Callable[[Task], Transition]
    """From the task as it was read, which is as it is stored."""
    written_in: set[TaskState]
    becomes: TaskState | None
    """`None`: the state stays."""
    fence: int
    """How much it goes up."""
    due_at_ms: int | None
    same_due: bool = False


CASES = {
    "claim": Case(
        lambda _: transitions.claim(owner="w/2", now_ms=NOW_MS, lease_ms=LEASE_MS),
        {S.READY, S.QUEUED, S.PROCESSING},
        S.PROCESSING,
        1,
        NOW_MS + LEASE_MS + due.AFTER_LEASE,
    ),
    "renew": Case(
        lambda task: transitions.renew(lease_of(task), lease_until_ms=NOW_MS + 9),
        {S.PROCESSING},
        None,
        0,
        None,
        same_due=True,
    ),
    "settle": Case(
        lambda task: transitions.settle(
            lease_of(task), replace(OUTCOME, state=S.TIMED_OUT), now_ms=NOW_MS
        ),
        {S.PROCESSING},
        S.TIMED_OUT,
        0,
        NOW_MS + due.AFTER_SETTLING,
    ),
    "release": Case(
        lambda task: transitions.release(
            lease_of(task), not_before_ms=NOW_MS + 7, now_ms=NOW_MS, give_attempt_back=False
        ),
        {S.PROCESSING},
        S.QUEUED,
        0,
        NOW_MS + 7 + due.AFTER_QUEUED,
    ),
    "give_up": Case(
        lambda task: transitions.give_up(task, OUTCOME, now_ms=NOW_MS),
        {S.READY, S.QUEUED, S.HELD, S.PROCESSING},
        S.FAILED,
        1,
        NOW_MS + due.AFTER_SETTLING,
    ),
    "flag": Case(transitions.flag, EVERY, None, 0, None, same_due=True),
    "decide": Case(
        lambda task: transitions.decide(task, Readiness(S.READY, "all"), now_ms=NOW_MS),
        {S.WAITING},
        S.READY,
        1,
        NOW_MS + due.AFTER_READY,
    ),
    "decide to skip": Case(
        lambda task: transitions.decide(task, Readiness(S.SKIPPED, "none"), now_ms=NOW_MS),
        {S.WAITING},
        S.SKIPPED,
        1,
        NOW_MS + due.AFTER_SETTLING,
    ),
    "hold": Case(
        lambda task: held_transitions.hold(task, held_until_ms=NOW_MS + 8),
        {S.READY},
        S.HELD,
        1,
        NOW_MS + 8,
    ),
    "resolve": Case(
        lambda task: held_transitions.resolve(task, OUTCOME, now_ms=NOW_MS, decision="d"),
        {S.HELD},
        S.FAILED,
        1,
        NOW_MS + due.AFTER_SETTLING,
    ),
    "mark_queued": Case(
        lambda task: transitions.mark_queued(task, now_ms=NOW_MS),
        {S.READY},
        S.QUEUED,
        1,
        NOW_MS + due.AFTER_QUEUED,
    ),
    "clear_due": Case(transitions.clear_due, EVERY, None, 0, None),
    "postpone": Case(
        lambda task: transitions.postpone(task, NOW_MS + 5, count=True),
        EVERY,
        None,
        0,
        NOW_MS + 5,
    ),
    "settle_start": Case(
        lambda _: transitions.settle_start(now_ms=NOW_MS),
        {S.WAITING},
        S.COMPLETED,
        1,
        NOW_MS + due.AFTER_SETTLING,
    ),
    "follow_relay": Case(
        lambda task: edge_transitions.follow_relay(task, a_task("__added-1")),
        {S.WAITING},
        None,
        0,
        None,
        same_due=True,
    ),
    "stay_parent": Case(edge_transitions.stay_parent, EVERY, None, 0, None, same_due=True),
    "reopen": Case(
        lambda task: transitions.reopen(
            Reopening(task_id="t", state=task.state, run=task.run, fence=task.fence), now_ms=NOW_MS
        ),
        EVERY,
        S.READY,
        1,
        NOW_MS + due.AFTER_READY,
    ),
}


@pytest.mark.parametrize("state", TaskState)
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_a_transition_in_a_state(case: Case, state: TaskState) -> None:
    task = in_state(state)
    transition = case.make(task)
    answer = attempt(task, transition)
    if state not in case.written_in and not transition.was_written_to(task):
        assert isinstance(answer, TransitionRefused)
        assert answer.reason.startswith(f"{transition.name} needs: ")
        assert "state" in answer.reason
        assert answer.found is task
        return
    assert isinstance(answer, Task)
    if state in case.written_in:
        assert answer.state is (case.becomes or state)
        assert answer.fence == FENCE + case.fence
        assert answer.due_at_ms == (task.due_at_ms if case.same_due else case.due_at_ms)
    else:
        assert answer is task


@pytest.mark.parametrize("change", [{"fence": FENCE + 1}, {"owner": "w/2"}])
@pytest.mark.parametrize("name", ["renew", "settle", "release"])
def test_only_the_owner_writes_under_its_fence(name: str, change: dict[str, Any]) -> None:
    task = in_state(S.PROCESSING)
    transition = CASES[name].make(task)
    (field,) = change
    answer = attempt(replace(task, **change), transition)
    assert isinstance(answer, TransitionRefused)
    assert answer.reason.startswith(f"{name} needs: {field} = ")


AS_READ: dict[str, list[dict[str, Any]]] = {
    "give_up": [{"fence": FENCE + 1}, {"state": S.QUEUED}, {"attempt": 2}],
    "hold": [{"run": 2}],
    "resolve": [{"fence": FENCE + 1}, {"run": 2}],
    "flag": [{"fence": FENCE + 1}, {"state": S.QUEUED}],
    "decide": [{"run": 2}, {"cancel_requested": True}, {"waiting_on": frozenset({"a@1"})}],
    "mark_queued": [{"run": 2}],
    "clear_due": [{"fence": FENCE + 1}, {"state": S.QUEUED}, {"run": 2}],
    "postpone": [{"due_at_ms": NOW_MS}, {"due_at_ms": None}],
    "follow_relay": [{"run": 2}],
    "stay_parent": [{"run": 2}, {"state": S.FAILED}],
    "reopen": [{"fence": FENCE + 1}, {"state": S.QUEUED}],
}
READ_IN = {"decide": S.WAITING, "follow_relay": S.WAITING, "mark_queued": S.READY}


@pytest.mark.parametrize(
    ("name", "change"), [(name, change) for name in AS_READ for change in AS_READ[name]]
)
def test_what_changed_since_it_was_read_is_left_alone(name: str, change: dict[str, Any]) -> None:
    task = in_state(READ_IN.get(name, S.PROCESSING))
    transition = CASES[name].make(task)
    answer = attempt(replace(task, **change), transition)
    assert isinstance(answer, TransitionRefused)
    assert next(iter(change)) in answer.reason


def test_a_claim_begins_without_what_the_last_attempt_left() -> None:
    claim = transitions.claim(owner="w/2", now_ms=NOW_MS, lease_ms=LEASE_MS)
    before = in_state(S.QUEUED, signs=LifeSigns(beat_at_ms=1), last_error="boom")
    assert applied(before, claim) == replace(
        before,
        state=S.PROCESSING,
        owner="w/2",
        fence=FENCE + 1,
        attempt=2,
        lease_until_ms=NOW_MS + LEASE_MS,
        started_at_ms=NOW_MS,
        due_at_ms=NOW_MS + LEASE_MS + due.AFTER_LEASE,
        resends=0,
        signs=None,
    )


@pytest.mark.parametrize(("given_back", "attempts"), [(True, 0), (False, 1)])
def test_a_release_gives_the_attempt_back_if_asked_to(given_back: bool, attempts: int) -> None:
    task = in_state(S.PROCESSING, last_error="older")
    release = transitions.release(
        lease_of(task), not_before_ms=1, now_ms=NOW_MS, give_attempt_back=given_back
    )
    released = applied(task, release)
    assert (released.attempt, released.owner, released.lease_until_ms) == (attempts, None, 0)
    assert (released.last_error, released.resends) == ("older", 0)
    assert released.due_at_ms == NOW_MS + due.AFTER_QUEUED


def test_edges_leave_together_and_name_who_did_not_complete() -> None:
    task = in_state(S.WAITING, waiting_on=frozenset({"a@1", "b@1", "c@1"}))
    answer = attempt(task, edge_transitions.remove_edges({"a@1": True, "b@1": False}))
    assert isinstance(answer, Task)
    assert answer.waiting_on == {"c@1"}
    assert answer.not_completed == {"b"}
    assert isinstance(
        attempt(answer, edge_transitions.remove_edges({"a@1": True})), TransitionRefused
    )


def test_a_relay_takes_the_place_of_another_only_if_nothing_else_left() -> None:
    relay, other = a_task("__added-1"), a_task("a")
    end = in_state(S.WAITING, waiting_on=frozenset({"a@1", "b@1"}))
    follow = edge_transitions.follow_relay(end, relay, instead_of=other)
    assert applied(end, follow).waiting_on == {"b@1", relay.token}
    assert isinstance(
        attempt(replace(end, waiting_on=frozenset({"a@1"})), follow), TransitionRefused
    )


def test_a_reopened_task_has_its_identity_and_nothing_else_of_the_last_run() -> None:
    before = in_state(
        S.FAILED,
        outcome=OUTCOME,
        owner="w/1",
        lease_until_ms=3,
        not_before_ms=3,
        last_error="boom",
        started_at_ms=3,
        settled_at_ms=3,
        ready_at_ms=3,
        cancel_requested=True,
        overrides=Overrides(model="m"),
        not_completed=frozenset({"z"}),
    )
    waits = Reopening(
        task_id="t", state=S.FAILED, run=1, fence=FENCE, waiting_on=frozenset({"a@2"})
    )
    assert applied(before, transitions.reopen(waits, now_ms=NOW_MS)) == a_task(
        state=S.WAITING, run=2, fence=FENCE + 1, waiting_on=frozenset({"a@2"})
    )
