"""A wake-up is a token: it names a task, and the worker runs the best one."""

import pytest

from switchyard.domain.scheduling.ready import Partition, partition_of
from switchyard.domain.states import TaskState
from switchyard.domain.tasks.task import Outcome, Task
from tests.builders import NOW_MS
from tests.worker.harness import WorkerHarness
from tests.worker.parent.receive.token_harness import TokenHarness

COMPLETED = Outcome(state=TaskState.COMPLETED)


@pytest.fixture
def stage(harness: WorkerHarness) -> TokenHarness:
    return TokenHarness(harness)


def done(stage: TokenHarness) -> Task:
    """Return a task that has settled and is not in the index."""
    return stage.add(
        "done", state=TaskState.COMPLETED, outcome=COMPLETED, settled_at_ms=NOW_MS, indexed=False
    )


def test_a_task_without_any_index_is_claimed_as_its_message_says(stage: TokenHarness) -> None:
    token = stage.token(stage.add("a", indexed=False))

    assert stage.taken(token) == "a"
    assert token.spent


def test_the_tenant_with_the_lower_clock_is_served_first(stage: TokenHarness) -> None:
    named = stage.add("dear")
    stage.add("quiet", tenant="brass")
    stage.memory.clocks.charge("default", {"acme": 5.0})
    token = stage.token(named)

    assert stage.taken(token) == "quiet"
    assert not token.spent
    assert stage.look(token)
    assert stage.taken(token) == "dear"
    assert token.spent


def test_of_one_tenant_the_higher_class_is_served_first(stage: TokenHarness) -> None:
    named = stage.add("usual", ready_at_ms=NOW_MS - 1000)
    stage.add("urgent", priority="high")

    assert stage.taken(stage.token(named)) == "urgent"


def test_a_charge_moves_the_clock_at_once(stage: TokenHarness) -> None:
    first = stage.add("a1")
    stage.add("a2")
    stage.add("b1", tenant="brass")
    token = stage.token(first)

    assert stage.taken(token) == "a1"
    assert stage.taken(token) == "b1"


def test_a_token_whose_task_is_done_is_used_for_another(stage: TokenHarness) -> None:
    stage.add("waiting")
    token = stage.token(done(stage))

    assert stage.taken(token) == "waiting"
    assert token.spent


def test_a_token_is_unused_only_if_there_is_nothing_to_do(stage: TokenHarness) -> None:
    token = stage.token(done(stage))

    assert stage.taken(token) is None
    assert token.needless
    assert not token.comes_again
    assert stage.sent() == []


def test_the_key_of_a_settled_task_is_removed_by_who_meets_it(stage: TokenHarness) -> None:
    settled = stage.add(
        "settled",
        state=TaskState.COMPLETED,
        outcome=COMPLETED,
        settled_at_ms=NOW_MS,
        ready_at_ms=NOW_MS - 5_000,
    )
    stage.add("other")

    assert stage.taken(stage.token(done(stage))) == "other"
    assert stage.task(settled).ready_in is None


def test_a_running_task_that_still_has_a_key_loses_it(stage: TokenHarness) -> None:
    running = stage.add(
        "running",
        state=TaskState.PROCESSING,
        owner="another",
        lease_until_ms=NOW_MS + 60_000,
        attempt=1,
        ready_at_ms=NOW_MS - 5,
    )
    token = stage.token(running)

    assert stage.taken(token) is None
    assert stage.task(running).ready_in is None
    assert token.spent


def test_an_exhausted_candidate_is_settled_and_uses_no_token(stage: TokenHarness) -> None:
    exhausted = stage.add("exhausted", attempt=3, ready_at_ms=NOW_MS - 5_000)
    stage.add("other")

    assert stage.taken(stage.token(done(stage))) == "other"
    assert stage.task(exhausted).state is TaskState.FAILED
    assert stage.task(exhausted).ready_in is None


def test_a_flagged_task_is_settled_as_cancelled_before_another_runs(stage: TokenHarness) -> None:
    flagged = stage.add("flagged", cancel_requested=True)
    stage.add("other", tenant="brass")
    stage.memory.clocks.charge("default", {"acme": 5.0})
    token = stage.token(flagged)

    assert stage.taken(token) == "other"
    assert stage.task(flagged).state is TaskState.CANCELLED
    assert token.spent


def test_a_task_of_an_older_version_gets_its_key_before_another_runs(stage: TokenHarness) -> None:
    stage.memory.clocks.charge("default", {"acme": 5.0})
    old = stage.add("old", indexed=False)
    stage.add("other", tenant="brass")
    stage.memory.clocks.mark("default", "acme", now_ms=NOW_MS - 10)
    token = stage.token(old)

    assert stage.taken(token) == "other"
    assert stage.task(old).ready_in == "default#acme"
    assert not token.spent


def test_a_task_that_is_too_early_comes_with_a_fresh_message(stage: TokenHarness) -> None:
    early = stage.add("early", not_before_ms=NOW_MS + 20_000, indexed=False)
    token = stage.token(early)

    assert stage.taken(token) is None
    assert stage.sent() == []
    assert stage.sent(after=20) == ["early"]


def test_after_ten_refusals_a_fresh_token_comes_a_little_later(
    harness: WorkerHarness,
) -> None:
    stage = TokenHarness(harness, lagging=True)
    for number in range(12):
        task = stage.add(f"lagging-{number}")
        stage.change(
            task, state=TaskState.PROCESSING, owner="x", lease_until_ms=NOW_MS + 60_000, attempt=1
        )
    token = stage.token(task)

    assert stage.taken(token) is None
    assert token.spent
    assert stage.sent() == []
    assert stage.sent(after=5) == ["lagging-11"]


def test_the_named_task_is_the_last_try_whatever_the_clocks_say(
    harness: WorkerHarness,
) -> None:
    stage = TokenHarness(harness, lagging=True)
    for number in range(12):
        task = stage.add(f"lagging-{number}", tenant="brass")
        stage.change(
            task, state=TaskState.PROCESSING, owner="x", lease_until_ms=NOW_MS + 60_000, attempt=1
        )
    named = stage.add("named")
    stage.memory.clocks.charge("default", {"acme": 5.0})

    assert stage.taken(stage.token(named)) == "named"


def test_a_task_whose_limit_is_full_waits_without_a_message(stage: TokenHarness) -> None:
    limit = "q:default:1"
    first = stage.add("first", limits=(limit,), ready_at_ms=NOW_MS - 9)
    second = stage.add("second", limits=(limit,))
    assert stage.taken(stage.token(first)) == "first"
    token = stage.token(second)

    assert stage.taken(token) is None
    assert partition_of(stage.task(second)) is Partition.LIMITED
    assert token.spent
    assert stage.sent(after=10) == []


def test_a_task_of_another_group_is_not_starved_by_the_default_one(stage: TokenHarness) -> None:
    for number in range(3):
        stage.add(f"usual-{number}")
    named = stage.add("research", queue="research/deep")
    token = stage.token(named)

    taken = [stage.taken(token) for _ in range(2)]

    assert "research" in taken


def test_a_slot_with_a_token_of_its_own_tries_its_own_task_first(harness: WorkerHarness) -> None:
    stage = TokenHarness(harness, slots=20)
    tasks = [stage.add(f"t{number:02}", ready_at_ms=NOW_MS - number) for number in range(20)]

    assert stage.taken(stage.token(tasks[7])) == "t07"


def test_why_a_task_was_next_is_known(stage: TokenHarness) -> None:
    named = stage.add("a", ready_at_ms=NOW_MS - 3_000)
    stage.memory.clocks.charge("default", {"acme": 2.5})

    taken = stage.take(stage.token(named))

    assert taken is not None
    why = taken.claimed.why
    assert why is not None
    assert (why.group, why.clock, why.rank) == ("default", 2.5, 2)
    assert (why.policy, why.waited_ms) == ("round-robin", 3_000)


@pytest.mark.parametrize("part", ["queue:default", "definition:scrape", "tenant:acme"])
def test_a_paused_task_hides_nobody_and_is_not_started(stage: TokenHarness, part: str) -> None:
    paused = stage.add("paused")
    stage.add("other", tenant="brass", queue="default/more", definition="other")
    stage.memory.clocks.charge("default", {"brass": 5.0})
    stage.pause(part)
    token = stage.token(paused)

    assert stage.taken(token) == "other"
    assert partition_of(stage.task(paused)) is Partition.HELD
    assert token.spent


def test_a_paused_task_of_an_older_version_is_not_started_either(stage: TokenHarness) -> None:
    paused = stage.add("paused", indexed=False)
    stage.pause("tenant:acme")
    token = stage.token(paused)

    assert stage.taken(token) is None
    assert stage.task(paused).state is TaskState.QUEUED
    assert partition_of(stage.task(paused)) is Partition.HELD
    assert stage.sent(after=10) == []
