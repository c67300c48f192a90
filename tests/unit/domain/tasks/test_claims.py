"""Every state, every question: who may run a task now."""

from typing import Any

import pytest

from switchyard.domain.states import SETTLED, TaskState
from switchyard.domain.tasks.claims import (
    Busy,
    Claimable,
    Done,
    Exhausted,
    Flagged,
    NotYet,
    decide_claim,
)
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
