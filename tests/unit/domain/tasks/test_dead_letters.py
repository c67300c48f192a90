"""What a dead letter means: every state of its task has one answer."""

from typing import Any

import pytest

from switchyard.domain.states import SETTLED, TaskState
from switchyard.domain.tasks.dead_letters import (
    Drop,
    EmitAgain,
    SendAgain,
    SettleTask,
    decide_dead_letter,
)
from switchyard.domain.tasks.task import MAX_ATTEMPTS, Outcome, Task
from tests.builders import NOW_MS, a_task

LIVE = {"state": TaskState.PROCESSING, "owner": "w/1", "lease_until_ms": NOW_MS}
LAPSED = LIVE | {"lease_until_ms": NOW_MS - 1}


def decide(**facts: Any) -> Drop | EmitAgain | SendAgain | SettleTask:
    return decide_dead_letter(a_task(**facts), now_ms=NOW_MS)


@pytest.mark.parametrize("facts", [{}, {"attempt": MAX_ATTEMPTS}, {"cancel_requested": True}])
def test_while_its_lease_runs_it_is_left_alone(facts: dict[str, Any]) -> None:
    assert decide(**LIVE, **facts) == Drop(f"busy until {NOW_MS}")


@pytest.mark.parametrize("state", sorted(SETTLED))
def test_the_event_of_a_settled_task_is_emitted_again(state: TaskState) -> None:
    assert isinstance(decide(state=state, settled_at_ms=1, cancel_requested=True), EmitAgain)


@pytest.mark.parametrize("facts", [LAPSED, {"state": TaskState.READY}, {"state": TaskState.QUEUED}])
@pytest.mark.parametrize("attempt", [0, MAX_ATTEMPTS - 1])
def test_with_attempts_left_it_is_sent_again(facts: dict[str, Any], attempt: int) -> None:
    decision = decide(**facts, attempt=attempt)
    assert isinstance(decision, SendAgain)
    assert decision.delay_seconds == 0


def test_a_task_that_waits_for_others_is_left_to_them() -> None:
    assert isinstance(decide(state=TaskState.WAITING, waiting_on=frozenset({"a@1"})), Drop)


@pytest.mark.parametrize(
    ("wait_ms", "delay_seconds"), [(1, 1), (1_000, 1), (1_001, 2), (900_000, 900)]
)
def test_what_may_not_run_yet_is_sent_for_when_it_may(wait_ms: int, delay_seconds: int) -> None:
    decision = decide(not_before_ms=NOW_MS + wait_ms)
    assert isinstance(decision, SendAgain)
    assert decision.delay_seconds == delay_seconds


def test_what_no_message_can_wait_for_is_left_to_its_due_time() -> None:
    assert isinstance(decide(not_before_ms=NOW_MS + 900_001), Drop)


def test_without_attempts_left_it_fails_and_says_who_gave_it_up() -> None:
    decision = decide(**LAPSED, attempt=MAX_ATTEMPTS, last_error="out of memory")
    assert isinstance(decision, SettleTask)
    outcome = decision.outcome
    assert (outcome.state, outcome.source) == (TaskState.FAILED, "dlq")
    assert outcome.error_category == "exhausted"
    assert outcome.error is not None
    assert outcome.error.endswith("before that: out of memory")


@pytest.mark.parametrize("facts", [LAPSED, {"state": TaskState.QUEUED}])
def test_what_is_flagged_is_cancelled(facts: dict[str, Any]) -> None:
    decision = decide(**facts, cancel_requested=True, attempt=MAX_ATTEMPTS)
    assert isinstance(decision, SettleTask)
    assert decision.outcome == Outcome(
        state=TaskState.CANCELLED, error="cancellation was requested"
    )


def test_every_state_has_an_answer() -> None:
    for state in TaskState:
        task: Task = a_task(state=state, settled_at_ms=1)
        assert decide_dead_letter(task, now_ms=NOW_MS).reason
