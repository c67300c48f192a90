"""Measuring a harness in memory."""

from dataclasses import replace

import pytest

from switchyard.contracts.messages import TaskMessage
from switchyard.domain.health.presence import PresentWorker
from switchyard.domain.measuring.counts import MINUTE_MS, Counts, Spending, minute_of
from switchyard.domain.measuring.measures import Levels
from switchyard.domain.states import TaskState
from switchyard.ports import PageOfUnsettled
from tests.builders import JOB, NOW_MS
from tests.fakes.harnesses.measured_harness import MeasuredHarness

MINUTE = minute_of(NOW_MS)


def published(harness: MeasuredHarness) -> dict[int, float]:
    """Claims a second, by minutes from the first one's."""
    found = harness.measurer.unpublished()
    return {(at - MINUTE) // MINUTE_MS: flow.claim_rate for at, flow in found}


@pytest.fixture
def harness() -> MeasuredHarness:
    return MeasuredHarness()


def test_an_idle_stage_is_all_noughts(harness: MeasuredHarness) -> None:
    measured = harness.measurer.measure(window_ms=5 * MINUTE_MS)

    assert measured.levels == Levels(
        queue_depth=0, in_flight_count=0, consumer_count=0, dlq_depth=0, age_of_oldest_item=0.0
    )
    assert measured.flow.claim_rate == 0


def test_levels_come_from_tasks_queues_and_workers(harness: MeasuredHarness) -> None:
    for number in range(40):  # over all shards
        harness.add_task(f"t{number}", TaskState.PROCESSING, ready_ms_ago=9_999_999)
    harness.add_task("old", TaskState.QUEUED, ready_ms_ago=90_000)
    harness.add_task("young", TaskState.READY, ready_ms_ago=1_000)
    harness.memory.queue.send([TaskMessage.to(JOB.task("old"), run=1)] * 2)
    harness.memory.queue.send([TaskMessage.to(JOB.task("late"), run=1)], delay_seconds=60)
    harness.dead["task-dlq"].send_body("hidden")
    harness.dead["task-dlq"].receive(at_most=1, wait_seconds=0, visibility_seconds=60)
    harness.dead["event-dlq"].send_body("waiting")
    worker = PresentWorker(
        worker_id="w1", started_at_ms=0, seen_at_ms=NOW_MS, slots=3, busy=1, version="1"
    )
    harness.memory.presence.seen(worker)
    harness.memory.presence.seen(replace(worker, worker_id="dead", seen_at_ms=NOW_MS - 200_000))

    assert harness.measurer.levels() == Levels(
        queue_depth=2,
        in_flight_count=40,
        consumer_count=1,
        dlq_depth=2,
        age_of_oldest_item=90.0,
        saturated_consumers=100 / 3,
    )


def test_every_page_of_what_is_unsettled_is_seen(harness: MeasuredHarness) -> None:
    class OneByOne:
        read = harness.memory.unsettled.read

        def page(self, shard: int, *, limit: int, cursor: str | None) -> PageOfUnsettled:
            return harness.memory.unsettled.page(shard, limit=min(limit, 1), cursor=cursor)

    for number in range(40):
        harness.add_task(f"t{number}", TaskState.PROCESSING, ready_ms_ago=1)

    assert replace(harness.measurer, unsettled=OneByOne()).levels().in_flight_count == 40


def test_a_window_is_of_whole_minutes_and_ends_now(harness: MeasuredHarness) -> None:
    harness.clock.sleep(30)
    spent = Counts(claims=6, by_definition={"scrape": Spending(cost_micro_usd=5)})
    for minute in (-2, -1, 0):
        harness.memory.counters.add(MINUTE + minute * MINUTE_MS, spent)

    measured = harness.measurer.measure(window_ms=MINUTE_MS)

    since_the_last_but_one = NOW_MS + 30_000 - (MINUTE - MINUTE_MS)
    assert measured.window_ms == since_the_last_but_one
    assert measured.flow.claim_rate == pytest.approx(12_000 / since_the_last_but_one)
    assert measured.flow.by_definition["scrape"].cost_micro_usd == 10


def test_each_minute_is_published_once_when_its_events_have_come(harness: MeasuredHarness) -> None:
    harness.clock.sleep((MINUTE - NOW_MS) / 1000 + 75)  # fifteen seconds into the next minute
    harness.memory.counters.add(MINUTE, Counts(claims=6))

    first = published(harness)
    assert first[0] == 0.1
    assert list(first) == list(range(-9, 1))
    assert published(harness) == {}

    harness.clock.sleep(59)
    assert published(harness) == {}
    harness.clock.sleep(1)
    assert published(harness) == {1: 0}


def test_minutes_that_were_missed_are_caught_up_with(harness: MeasuredHarness) -> None:
    harness.clock.sleep(75)
    published(harness)
    harness.memory.counters.add(MINUTE + 2 * MINUTE_MS, Counts(claims=60))
    harness.clock.sleep(180)

    caught_up = published(harness)

    assert len(caught_up) == 3
    assert caught_up[2] == 1
