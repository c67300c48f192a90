"""What each event adds to the counters of its minute, whichever process sent it."""

from dataclasses import replace
from typing import Any

import pytest

from switchyard.contracts.events import CATALOGUE, ArrivedEvent, Context, Event, TaskHeartbeat
from switchyard.contracts.events.counts import counted
from switchyard.domain.measuring.counts import Counts, Spending
from switchyard.domain.states import TaskState
from switchyard.domain.tasks.claim_refusals import EXHAUSTED
from switchyard.domain.tasks.task import Outcome, Usage
from switchyard.usecases.events import task_events
from switchyard.usecases.events.emitting import Fact
from tests.builders import NOW_MS, a_task

USAGE = Usage(input_tokens=10, output_tokens=5, cache_read_tokens=3, cost_usd=0.0125)
SPENT = {
    "scrape": Spending(cost_micro_usd=12_500, input_tokens=10, output_tokens=5, cache_read_tokens=3)
}
TASK = a_task("a", definition="scrape", started_at_ms=NOW_MS)


def arrived(fact: Fact) -> ArrivedEvent:
    event = Event.of(
        fact.properties,
        tenant=fact.tenant,
        app="shop",
        timestamp_ms=NOW_MS,
        context=Context(environment="test", origin="test"),
    )
    return ArrivedEvent.model_validate(event.detail())


def settled(state: TaskState, **facts: Any) -> ArrivedEvent:
    outcome = Outcome(state=state, **facts)
    return arrived(task_events.settled(replace(TASK, state=state, outcome=outcome), output={}))


def emitted(event_type: str, **properties: Any) -> ArrivedEvent:
    """Return an event of a sender that is older or newer than this version."""
    return arrived(task_events.started(TASK, worker_id="w", process_id=1)).model_copy(
        update={"event_type": event_type, "properties": properties}
    )


def test_a_claim_is_one() -> None:
    assert counted(arrived(task_events.started(TASK, worker_id="w", process_id=1))) == Counts(
        claims=1
    )


def test_a_completed_task_adds_its_time_and_its_cost() -> None:
    event = settled(TaskState.COMPLETED, duration_ms=1_234, usage=USAGE)

    assert counted(event) == Counts(
        completions=1, timed=1, processing_ms=1_234, by_definition=SPENT
    )


def test_what_failed_was_paid_for_as_well() -> None:
    event = settled(TaskState.FAILED, duration_ms=50, usage=USAGE, error_category="server-error")

    assert counted(event) == Counts(failures=1, timed=1, processing_ms=50, by_definition=SPENT)


def test_a_failed_attempt_is_no_failed_task() -> None:
    failure = Outcome(state=TaskState.FAILED, duration_ms=50, usage=USAGE)
    event = arrived(task_events.attempt_failed(TASK, failure, attempt=1, at_ms=NOW_MS))

    assert counted(event) == Counts(
        failed_attempts=1, timed=1, processing_ms=50, by_definition=SPENT
    )


def test_what_timed_out_is_counted_apart() -> None:
    event = settled(TaskState.TIMED_OUT, duration_ms=300_000, timeout_ms=300_000, usage=USAGE)

    assert counted(event) == Counts(timeouts=1, timed=1, processing_ms=300_000, by_definition=SPENT)


def test_a_task_whose_last_lease_ran_out_has_failed_and_timed_out() -> None:
    event = settled(TaskState.FAILED, error_category=EXHAUSTED)

    assert counted(event) == Counts(failures=1, timeouts=1)


def test_an_older_event_names_no_definition() -> None:
    usage = {"inputTokens": 1, "costUsd": 0.5}

    assert counted(emitted("Task Completed", durationMs=7, exitCode=0, usage=usage)) == Counts(
        completions=1,
        timed=1,
        processing_ms=7,
        by_definition={"unknown": Spending(cost_micro_usd=500_000, input_tokens=1)},
    )


def test_a_newer_event_may_say_more() -> None:
    event = emitted("Task Completed", durationMs=7, mood="good", usage={"costUsd": 0.5, "x": 1})

    assert counted(event) == Counts(
        completions=1,
        timed=1,
        processing_ms=7,
        by_definition={"unknown": Spending(cost_micro_usd=500_000)},
    )


@pytest.mark.parametrize(
    "nonsense",
    [
        {"durationMs": -1},
        {"durationMs": 10**30},
        {"name": "#/../"},
        {"usage": {"costUsd": float("nan")}},
        {"usage": {"inputTokens": -5}},
        {"usage": "much"},
    ],
)
def test_of_what_makes_no_sense_only_the_event_is_counted(nonsense: dict[str, Any]) -> None:
    assert counted(emitted("Task Completed", **nonsense)) == Counts(completions=1)


@pytest.mark.parametrize("timestamp", [-1, 10**13, 10**40])
def test_what_happened_at_no_time_is_not_counted(timestamp: int) -> None:
    event = emitted("Task Completed").model_copy(update={"timestamp": timestamp})

    assert counted(event) is None


def test_nothing_else_is_counted() -> None:
    others = [name for name in CATALOGUE if counted(emitted(name)) is None]

    assert TaskHeartbeat.event_type in others
    assert len(others) == len(CATALOGUE) - 5
