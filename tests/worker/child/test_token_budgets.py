"""An attempt ends with the step that used up its tokens."""

import pytest

from switchyard.domain.access.limits import Asked, Ceilings
from switchyard.domain.states import TaskState
from switchyard.domain.tasks.task import Overrides
from tests.worker.harness import WorkerHarness

USED = {"offline": {"usage": {"inputTokens": 600, "outputTokens": 300, "cacheReadTokens": 600}}}


@pytest.mark.parametrize(
    ("budget", "state"), [(1_400, TaskState.FAILED), (1_500, TaskState.COMPLETED)]
)
def test_all_kinds_of_tokens_count(harness: WorkerHarness, budget: int, state: TaskState) -> None:
    harness.add_task(given=USED, definition={"max_tokens": budget})
    harness.work(harness.quiet)
    task = harness.task()
    assert task.state is state
    assert task.outcome
    if state is TaskState.FAILED:
        assert task.outcome.error_category == "validation"
        assert "maxTokens: the task may use 1,400 tokens, and its steps took 1,500" in str(
            task.outcome.error
        )


def test_a_redrive_may_ask_for_more(harness: WorkerHarness) -> None:
    overrides = Overrides(max_tokens=2_000)
    harness.add_task(given=USED, definition={"max_tokens": 1_000}, overrides=overrides)
    harness.work(harness.quiet)
    assert harness.task().state is TaskState.COMPLETED


def test_a_stage_may_have_a_ceiling() -> None:
    ceilings = Ceilings(max_tokens=5_000)
    assert [ceilings.tokens(asked) for asked in (None, 9_000, 10)] == [5_000, 5_000, 10]
    (problem,) = ceilings.problems_with(Asked(max_tokens=9_000))
    assert str(problem) == "maxTokens: is 9,000; this stage allows at most 5,000"
    assert Ceilings().tokens(None) is None
