"""The loop: slots before messages, rest when there is nothing, and leaving at once but in order."""

import asyncio
from collections.abc import Sequence

import pytest

from switchyard.domain.errors import Unavailable
from switchyard.ports import Received
from switchyard_worker.parent.health.stop import MOST_IN_A_ROW, Bugs, Stop, Unhealthy
from tests.worker.harness import WorkerHarness
from tests.worker.loop_harness import (
    PATIENCE_SECONDS,
    HangingInbox,
    LoopHarness,
    RecordedInbox,
    run,
    until,
)


def test_no_more_is_received_than_there_are_free_slots(harness: WorkerHarness) -> None:
    async def story() -> None:
        one = LoopHarness(harness, RecordedInbox(harness))
        one.send(5)
        running = asyncio.create_task(one.loop(slots=3).run())
        await until(lambda: len(one.handling) == 3)
        assert one.inbox.asked == [3]
        one.finish.set()
        await until(lambda: one.waiting == 0)
        one.stop.ask()
        await running
        assert len(set(one.handling)) == 5

    run(story())


def test_slots_that_become_free_together_share_a_receive(harness: WorkerHarness) -> None:
    async def story() -> None:
        one = LoopHarness(harness, RecordedInbox(harness))
        one.send(4)
        running = asyncio.create_task(one.loop(slots=2).run())
        await until(lambda: len(one.handling) == 2)
        one.finish.set()
        await until(lambda: len(one.handling) == 4)
        assert one.inbox.asked[:2] == [2, 2]
        one.stop.ask()
        await running

    run(story())


def test_a_receive_takes_no_more_than_the_setting_says(harness: WorkerHarness) -> None:
    async def story() -> None:
        one = LoopHarness(harness, RecordedInbox(harness))
        one.send(2)
        one.finish.set()
        running = asyncio.create_task(one.loop(max_messages=1).run())
        await until(lambda: one.waiting == 0)
        one.stop.ask()
        await running
        assert set(one.inbox.asked) == {1}

    run(story())


def test_messages_that_end_together_are_deleted_in_one_call(harness: WorkerHarness) -> None:
    async def story() -> None:
        one = LoopHarness(harness, RecordedInbox(harness))
        one.send(3)
        running = asyncio.create_task(one.loop(slots=3).run())
        await until(lambda: len(one.handling) == 3)
        one.finish.set()
        await until(lambda: one.waiting == 0)
        assert one.inbox.deleted == [3]
        one.stop.ask()
        await running

    run(story())


def test_what_is_to_be_deleted_is_deleted_before_the_worker_leaves(harness: WorkerHarness) -> None:
    async def story() -> None:
        one = LoopHarness(harness, RecordedInbox(harness))
        one.send(1)
        running = asyncio.create_task(one.loop().run())
        await until(lambda: len(one.handling) == 1)
        one.stop.ask()
        one.finish.set()
        await running
        assert one.waiting == 0

    run(story())


def test_a_stop_does_not_wait_for_a_long_poll(harness: WorkerHarness) -> None:
    async def story() -> None:
        one = LoopHarness(harness, inbox := HangingInbox(harness))
        running = asyncio.create_task(one.loop().run())
        await until(inbox.hanging.is_set)
        one.stop.ask()
        try:
            async with asyncio.timeout(PATIENCE_SECONDS / 2):
                await running
        finally:
            inbox.answer.set()

    run(story())


def test_what_a_late_poll_brings_is_put_back_at_once(harness: WorkerHarness) -> None:
    """While another task still finishes."""

    async def story() -> None:
        one = LoopHarness(harness, inbox := HangingInbox(harness))
        one.send(1)
        running = asyncio.create_task(one.loop(slots=2).run())
        await until(lambda: len(one.handling) == 1 and inbox.hanging.is_set())
        one.stop.ask()
        one.send(1)
        inbox.answer.set()
        await until(lambda: len(inbox.let_go) == 1)
        assert not running.done()
        one.finish.set()
        await running
        assert len(one.handling) == 1
        assert one.waiting == 1

    run(story())


@pytest.mark.parametrize(("wait_seconds", "rests"), [(0, True), (20, False)])
def test_only_a_short_poll_rests_on_an_empty_queue(
    harness: WorkerHarness, wait_seconds: int, rests: bool
) -> None:
    async def story() -> None:
        one = LoopHarness(harness, RecordedInbox(harness))
        running = asyncio.create_task(one.loop(wait_seconds=wait_seconds).run())
        await until(lambda: len(one.inbox.asked) >= 7)
        one.stop.ask()
        await running
        assert one.rests[:6] == ([0.5, 1, 2, 4, 5, 5] if rests else [])

    run(story())


def test_an_outage_is_sat_out_longer_each_time_and_forgotten_when_it_is_over(
    harness: WorkerHarness,
) -> None:
    class Flaky(RecordedInbox):
        def receive(
            self, *, at_most: int, wait_seconds: int, visibility_seconds: int
        ) -> Sequence[Received]:
            self.asked.append(at_most)
            if len(self.asked) != 4:
                raise Unavailable("the queue is down")
            return ()

    async def story() -> None:
        one = LoopHarness(harness, Flaky(harness))
        running = asyncio.create_task(one.loop().run())
        await until(lambda: len(one.inbox.asked) >= 7)
        one.stop.ask()
        await running
        assert one.rests[:5] == [0.5, 1, 2, 0.5, 1]

    run(story())


def test_a_queue_that_refuses_to_delete_costs_a_second_delivery_and_no_worker(
    harness: WorkerHarness,
) -> None:
    class Stubborn(RecordedInbox):
        def delete(self, *messages: Received) -> None:
            self.deleted.append(len(messages))
            raise Unavailable("the queue is down")

    async def story() -> None:
        one = LoopHarness(harness, Stubborn(harness))
        one.send(1)
        one.finish.set()
        running = asyncio.create_task(one.loop().run())
        await until(lambda: one.inbox.deleted == [1])
        assert not running.done()
        one.stop.ask()
        await running
        assert one.waiting == 1

    run(story())


def test_a_bug_in_one_slot_is_reported_and_the_others_go_on(
    harness: WorkerHarness, caplog: pytest.LogCaptureFixture
) -> None:
    async def story() -> None:
        one = LoopHarness(harness, RecordedInbox(harness))
        one.send(1)
        one.bug = ZeroDivisionError("of ours")
        one.finish.set()
        running = asyncio.create_task(one.loop().run())
        await until(lambda: "message failed by a bug" in caplog.messages)
        one.bug = None
        one.send(2)
        await until(lambda: one.waiting == 1)
        assert not running.done()
        one.stop.ask()
        await running

    run(story())
    (record,) = [r for r in caplog.records if r.getMessage() == "message failed by a bug"]
    assert "_handle" in vars(record)["traceback"]
    assert record.levelname == "ERROR"


def test_bugs_in_a_row_end_the_worker_once_what_runs_is_finished(harness: WorkerHarness) -> None:
    async def story() -> None:
        one = LoopHarness(harness, RecordedInbox(harness))
        one.send(20)
        one.bug = ZeroDivisionError()
        one.finish.set()
        with pytest.raises(Unhealthy, match="5 bugs in a row"):
            await asyncio.wait_for(one.loop(slots=1).run(), PATIENCE_SECONDS)
        assert len(one.handling) == MOST_IN_A_ROW

    run(story())


def test_bugs_with_a_success_between_them_do_not_end_the_worker(harness: WorkerHarness) -> None:
    stop = Stop(grace_seconds=1, sleep=harness.ports().sleep)
    bugs = Bugs(harness.ports().clock, stop)
    for _ in range(3):
        for _ in range(MOST_IN_A_ROW - 1):
            bugs.note(ZeroDivisionError(), message_id="m")
        bugs.reset()
    bugs.check()
    assert bugs.count == 3 * (MOST_IN_A_ROW - 1)
    assert not stop.asked.is_set()


def test_a_bug_of_the_loop_itself_ends_it(harness: WorkerHarness) -> None:
    class Broken(RecordedInbox):
        def receive(
            self, *, at_most: int, wait_seconds: int, visibility_seconds: int
        ) -> Sequence[Received]:
            raise ZeroDivisionError

    async def story() -> None:
        one = LoopHarness(harness, Broken(harness))
        with pytest.raises(ExceptionGroup) as caught:
            await asyncio.wait_for(one.loop().run(), PATIENCE_SECONDS)
        assert caught.group_contains(ZeroDivisionError)

    run(story())


def test_companions_run_beside_the_slots_and_end_with_them(harness: WorkerHarness) -> None:
    seen: list[str] = []

    async def companion() -> None:
        seen.append("began")
        try:
            await asyncio.Event().wait()
        finally:
            seen.append("ended")

    async def story() -> None:
        one = LoopHarness(harness, RecordedInbox(harness))
        running = asyncio.create_task(one.loop().beside(companion).run())
        await until(lambda: seen == ["began"])
        one.stop.ask()
        await running

    run(story())
    assert seen == ["began", "ended"]
