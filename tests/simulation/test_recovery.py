"""One fault at a time, in a calm harness: how soon it is made good."""

from collections.abc import Callable

import pytest

from switchyard.domain.ids import END
from switchyard.domain.states import JobState, TaskState
from switchyard.domain.tasks import due
from switchyard.usecases.jobs import expand_job, submit_job
from tests.simulation.checker import violations
from tests.simulation.cloud.sqs import QueueFaults
from tests.simulation.cloud.table import Change
from tests.simulation.harness import Harness
from tests.simulation.kernel.node import Node
from tests.simulation.scripted.one_task import (
    A_POLL_LATER,
    A_SWEEP_LATER,
    LATENCY_SECONDS,
    POLL_SECONDS,
    WORK_SECONDS,
    OneTask,
    every_way,
    longest_idle,
    messages_deleted,
)
from tests.simulation.stage.functions import SWEEP_SECONDS
from tests.simulation.stage.workers import TIMING
from tests.simulation.weather import Weather

DISABLED_SECONDS = 600.0
A_SETTLED_TASK_LATER = due.AFTER_SETTLING / 1000 + SWEEP_SECONDS + LATENCY_SECONDS


def doomed(seed: int, way: int, fate: str) -> OneTask:
    one = OneTask(seed)
    node = one.doomed.node
    node.fate[way] = (
        (lambda: node.kill("on purpose"))
        if fate == "killed"
        else (lambda: node.freeze(2 * TIMING.lease_seconds))
    )
    one.run()
    return one


@every_way
def test_a_killed_worker_is_replaced_within_a_lease_and_a_poll_or_a_sweep(way: int) -> None:
    """A sweep if it died between renewing its lease and hiding the message for longer."""
    one = doomed(seed=way, way=way, fate="killed")
    assert violations(one.harness) == []
    assert longest_idle(one.harness) <= (
        A_SWEEP_LATER if messages_deleted(one.harness) > 1 else A_POLL_LATER
    )


@every_way
def test_a_frozen_worker_changes_nothing_when_it_wakes(way: int) -> None:
    one = doomed(seed=way, way=way, fate="frozen")
    assert violations(one.harness) == []
    assert len(_completions(one.harness)) == 1


def test_a_lost_message_costs_a_sweep() -> None:
    one = OneTask(seed=1)
    one.harness.cloud.tasks.faults = QueueFaults(lost=1.0)
    one.harness.world.after(SWEEP_SECONDS, one.harness.cloud.clear_up)
    one.run()
    assert violations(one.harness) == []
    bound = due.AFTER_QUEUED / 1000 + SWEEP_SECONDS + LATENCY_SECONDS
    assert longest_idle(one.harness) <= bound


def test_a_message_deleted_as_redundant_costs_a_lease_and_a_sweep() -> None:
    """A second delivery is dropped while the first runs; then the first dies."""
    one = OneTask(seed=2)

    def duplicate_then_die(node: Node) -> None:
        world, queue = node.world, one.harness.cloud.tasks
        [message] = queue.messages.values()
        queue.put(message.body)
        del queue.messages[message.number]
        world.after(LATENCY_SECONDS, node.kill, "on purpose")

    one.harness.world.after(0, _when_started, one, duplicate_then_die)
    one.run()
    assert violations(one.harness) == []
    assert longest_idle(one.harness) <= A_SWEEP_LATER


@pytest.mark.parametrize("seed", range(5))
def test_a_worker_that_cannot_renew_stops_its_child_before_the_lease_ends(seed: int) -> None:
    """It goes on receiving and hiding messages: the queue is reached, the table is not."""
    one = OneTask(seed, seconds=3 * TIMING.lease_seconds)
    one.harness.world.after(0, _when_started, one, lambda node: node.cut_off.update(DynamoDb=0.0))
    one.run()
    assert violations(one.harness) == []
    first = one.harness.children[0]
    assert first.ended is not None
    assert first.ended - first.began <= TIMING.lease_seconds - TIMING.kill_seconds
    assert len(one.harness.children) == 2


@pytest.mark.parametrize("told_after", [0.0, 120.0])
def test_a_worker_that_loses_only_the_message_goes_on(told_after: float) -> None:
    """The message is delivered again, to a worker that finds the task busy."""
    one = OneTask(seed=1, seconds=3 * TIMING.lease_seconds)
    one.harness.world.after(0, _when_started, one, lambda node: node.cut_off.update(Sqs=told_after))
    one.run()
    assert violations(one.harness) == []
    assert len(one.harness.children) == 1


def test_events_that_are_all_lost_cost_a_sweep_each() -> None:
    one = OneTask(seed=1, weather=Weather(wake_ups_lost=1.0))
    one.run()
    assert violations(one.harness) == []
    assert _nudges(one.harness) == [
        "nudge __start__: dispatch, completed, not dispatched",
        "nudge only: dispatch, completed, not dispatched",
    ]
    bound = 2 * A_SETTLED_TASK_LATER + POLL_SECONDS + WORK_SECONDS
    assert _settled_at(one.harness) <= bound


def test_a_dispatcher_that_was_disabled_goes_on_as_soon_as_it_is_back() -> None:
    """The dispatch queue kept what woke it, and what the sweeper added changes nothing."""
    one = OneTask(seed=1)
    one.harness.dispatcher.pause(DISABLED_SECONDS)
    one.run()
    assert violations(one.harness) == []
    assert set(_nudges(one.harness)) == {"nudge __start__: dispatch, completed, not dispatched"}
    assert len(one.harness.children) == 1
    bound = DISABLED_SECONDS + POLL_SECONDS + WORK_SECONDS + LATENCY_SECONDS
    assert _settled_at(one.harness) <= bound


def test_a_half_expanded_job_is_written_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """The writer dies after the first items, and the wake-up is gone."""
    monkeypatch.setattr(submit_job, "MAX_INLINE_TASKS", 0)
    monkeypatch.setattr(expand_job, "ITEMS_AT_ONCE", 2)
    one = OneTask(seed=1)
    die_halfway(one.harness)
    one.run()
    assert violations(one.harness) == []
    assert any("KILLED halfway" in line.what for line in one.harness.world.trace.lines)
    assert _nudges(one.harness) == ["nudge the job: advance, expand is not over"]
    bound = due.JOB_BEING_WRITTEN / 1000 + SWEEP_SECONDS + POLL_SECONDS + WORK_SECONDS
    assert _settled_at(one.harness) <= bound + LATENCY_SECONDS


def die_halfway(harness: Harness) -> None:
    """Let the process that writes the job die, once."""
    nodes: dict[str, Node] = {}

    def remembered(kind: str) -> Node:
        node = harness.new_node(kind)
        return nodes.setdefault(node.name, node)

    def look(_change: Change) -> None:
        jobs = harness.history.jobs.values()  # none yet while the job is only counted
        if any(job.state is JobState.WRITING and job.written for job in jobs):
            nodes[harness.world.acting].kill("halfway")
            harness.cloud.dispatch.messages.clear()
            harness.cloud.dynamodb.on_change.remove(look)

    harness.invocations.new_node = remembered
    harness.cloud.dynamodb.on_change.append(look)


def _when_started(one: OneTask, call: Callable[[Node], None]) -> None:
    if one.harness.children:
        call(one.doomed.node)
    else:
        one.harness.world.after(1.0, _when_started, one, call)


def _nudges(harness: Harness) -> list[str]:
    emitted = [line.what for line in harness.world.trace.lines if line.what.startswith("nudge ")]
    return [nudge for nudge in emitted if ": wait, " not in nudge and ": leave, " not in nudge]


def _settled_at(harness: Harness) -> float:
    [end] = [task for task in harness.history.tasks if task.task_id == END]
    return next(v.at for v in harness.history.tasks[end] if v.new.state.settled)


def _completions(harness: Harness) -> list[str]:
    return [
        task.task_id
        for task, versions in harness.history.tasks.items()
        for version in versions
        if version.new.state is TaskState.COMPLETED
        and (version.old is None or version.old.state is not TaskState.COMPLETED)
        if not task.hidden
    ]
