"""Every state, every question: who may run a task now."""

from itertools import product
from typing import Any

import pytest

from switchyard.domain.states import SETTLED, TaskKind, TaskState
from switchyard.domain.tasks import transitions
from switchyard.domain.tasks.claim_refusals import (
    Busy,
    Claimable,
    Done,
    Exhausted,
    Flagged,
    NotYet,
    decide_claim,
    why_needless,
)
from switchyard.domain.transition import holds
from tests.builders import NOW_MS, a_task

LIVE = {"state": TaskState.PROCESSING, "lease_until_ms": NOW_MS, "attempt": 1}
LAPSED = {"state": TaskState.PROCESSING, "lease_until_ms": NOW_MS - 1, "attempt": 1}


@pytest.mark.parametrize(
    ("facts", "decision"),
    [
        ({"state": TaskState.READY}, Claimable),
        ({"state": TaskState.QUEUED}, Claimable),
        ({"state": TaskState.QUEUED, "not_before_ms": NOW_MS}, Claimable),
        ({"state": TaskState.QUEUED, "not_before_ms": NOW_MS + 1}, NotYet),
        ({"state": TaskState.WAITING, "waiting_on": frozenset({"a@1"})}, NotYet),
        ({"state": TaskState.QUEUED, "attempt": 3}, Exhausted),
        ({"state": TaskState.QUEUED, "cancel_requested": True}, Flagged),
        (LIVE, Busy),
        (LIVE | {"attempt": 3}, Busy),
        (LIVE | {"cancel_requested": True}, Busy),
        (LAPSED, Claimable),
        (LAPSED | {"attempt": 3}, Exhausted),
        (LAPSED | {"cancel_requested": True}, Flagged),
        (LAPSED | {"not_before_ms": NOW_MS + 99}, Claimable),
    ],
)
def test_a_claim_is_decided_by_state_lease_attempts_and_flag(
    facts: dict[str, Any], decision: type
) -> None:
    assert isinstance(decide_claim(a_task(**facts), now_ms=NOW_MS), decision)


@pytest.mark.parametrize("state", sorted(SETTLED))
def test_what_is_settled_is_done(state: TaskState) -> None:
    decided = decide_claim(a_task(state=state, settled_at_ms=5, attempt=3), now_ms=NOW_MS)
    assert decided == Done(f"done: {state.value.lower()} at 5")


def test_not_yet_says_how_long() -> None:
    task = a_task(state=TaskState.QUEUED, not_before_ms=NOW_MS + 250)
    assert decide_claim(task, now_ms=NOW_MS) == NotYet(f"not before {NOW_MS + 250}", 250)


@pytest.mark.parametrize("state", sorted(SETTLED))
def test_a_wake_up_for_a_task_that_has_settled_in_its_run_or_later_is_needless(
    state: TaskState,
) -> None:
    for task in (
        a_task(state=state, run=2),
        a_task(state=state, run=3),
    ):
        assert why_needless(task, run=2, job_cancelled=False)


@pytest.mark.parametrize(
    "facts",
    [
        {"state": TaskState.CANCELLED, "run": 1},
        {"state": TaskState.CANCELLED, "run": 2, "due_at_ms": NOW_MS},
        {"state": TaskState.COMPLETED, "run": 2, "due_at_ms": NOW_MS + 1},
        *[{"state": state, "run": 2} for state in sorted(set(TaskState) - SETTLED)],
    ],
    ids=str,
)
def test_any_other_wake_up_is_not_needless(facts: dict[str, Any]) -> None:
    assert why_needless(a_task(**facts), run=2, job_cancelled=False) is None


@pytest.mark.parametrize(("run", "needless"), [(1, True), (2, True), (3, False)])
def test_a_task_that_was_cancelled_with_its_job_needs_no_wake_up_to_emit_its_event(
    run: int, needless: bool
) -> None:
    task = a_task(state=TaskState.CANCELLED, run=2, due_at_ms=NOW_MS)
    assert bool(why_needless(task, run=run, job_cancelled=True)) is needless


def test_of_a_job_that_is_being_cancelled_what_will_be_visited_needs_no_wake_up() -> None:
    needless = {
        (state, flagged)
        for state in set(TaskState) - SETTLED
        for flagged in (False, True)
        if why_needless(a_task(state=state, cancel_requested=flagged), run=1, job_cancelled=True)
    }
    assert needless == {(TaskState.READY, False), (TaskState.QUEUED, False)}


FACTS: list[dict[str, Any]] = [
    {
        "cancel_requested": flagged,
        "attempt": attempts,
        "not_before_ms": start,
        "lease_until_ms": end,
    }
    for flagged, attempts, start, end in product(
        (False, True), (0, 2, 3, 4), (0, NOW_MS, NOW_MS + 1), (0, NOW_MS - 1, NOW_MS, NOW_MS + 1)
    )
]


@pytest.mark.parametrize("state", TaskState)
def test_the_guard_of_a_claim_holds_wherever_a_task_may_be_claimed(state: TaskState) -> None:
    claim = transitions.claim(owner="w/2", now_ms=NOW_MS, lease_ms=45_000)
    for facts in FACTS:
        kind = TaskKind.WAIT if state is TaskState.HELD else None
        task = a_task(state=state, kind=kind, **facts)
        may = isinstance(decide_claim(task, now_ms=NOW_MS), Claimable)
        assert holds(claim.guard, task) == may, facts
