"""From counts and tasks to numbers."""

import pytest

from switchyard.domain.measuring.counts import Counts, Spending
from switchyard.domain.measuring.measures import Population, flow_of
from switchyard.domain.states import TaskState
from tests.builders import NOW_MS


def test_rates_are_per_second_of_the_window() -> None:
    counts = [
        Counts(claims=30, completions=6, timed=1, processing_ms=1_000),
        Counts(claims=30, failures=12, timeouts=3, timed=2, processing_ms=3_500),
    ]

    flow = flow_of(counts, window_ms=120_000)

    assert (flow.claim_rate, flow.completion_rate) == (0.5, 0.05)
    assert (flow.failure_rate, flow.timeout_rate) == (0.1, 0.025)
    assert flow.avg_processing_time == 1_500


def test_where_nothing_happened_there_is_no_average() -> None:
    flow = flow_of([], window_ms=60_000)

    assert flow.claim_rate == 0
    assert flow.avg_processing_time is None
    assert flow.by_definition == {}


def test_costs_are_listed_by_definition_the_dearest_first() -> None:
    cheap, dear = Spending(cost_micro_usd=1), Spending(cost_micro_usd=2)

    flow = flow_of([Counts(by_definition={"a": cheap, "b": dear})], window_ms=60_000)

    assert list(flow.by_definition.items()) == [("b", dear), ("a", cheap)]


@pytest.mark.parametrize(
    ("state", "in_flight", "seconds"),
    [
        (TaskState.READY, 0, 90.0),
        (TaskState.QUEUED, 0, 90.0),
        (TaskState.PROCESSING, 1, 0.0),
        (TaskState.WAITING, 0, 0.0),
        (TaskState.COMPLETED, 0, 0.0),
    ],
)
def test_a_task_is_in_flight_or_pending_or_neither(
    state: TaskState, in_flight: int, seconds: float
) -> None:
    population = Population()
    population.see(state, ready_at_ms=NOW_MS - 90_000)

    assert population.in_flight == in_flight
    assert population.oldest_age_seconds(now_ms=NOW_MS) == seconds


def test_the_oldest_is_the_one_that_has_waited_longest() -> None:
    population = Population()
    for ready_at_ms in (NOW_MS - 1_000, NOW_MS - 5_000, None, NOW_MS + 60_000):
        population.see(TaskState.QUEUED, ready_at_ms=ready_at_ms)

    assert population.oldest_age_seconds(now_ms=NOW_MS) == 5


def test_an_age_is_never_negative() -> None:
    population = Population()
    population.see(TaskState.READY, ready_at_ms=NOW_MS + 1)

    assert population.oldest_age_seconds(now_ms=NOW_MS) == 0


def test_verified_tasks_are_a_share_of_the_completed_ones() -> None:
    spent = {"a": Spending(cost_micro_usd=3_000_000), "b": Spending(cost_micro_usd=1_000_000)}
    flow = flow_of([Counts(completions=8, verified=2, by_definition=spent)], window_ms=60_000)
    assert (flow.verified_share, flow.usd_per_verified) == (0.25, 2.0)


def test_where_nothing_was_verified_it_has_no_price() -> None:
    flow = flow_of([Counts(completions=8)], window_ms=60_000)
    assert (flow.verified_share, flow.usd_per_verified) == (0.0, None)
