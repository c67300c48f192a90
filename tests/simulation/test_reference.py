"""The reference is small enough to be checked by hand: here is that check."""

import pytest

from switchyard.domain.states import JobState, Rule, TaskState
from tests.simulation.reference import Declared, ends, outcome, reopened

COMPLETED, FAILED, SKIPPED = TaskState.COMPLETED, TaskState.FAILED, TaskState.SKIPPED
TIMED_OUT, CANCELLED = TaskState.TIMED_OUT, TaskState.CANCELLED
A_AND_B = (Declared("a"), Declared("b"))
CHAIN = (Declared("c", ("b",)), Declared("b", ("a",)), Declared("a"))


@pytest.mark.parametrize(
    ("rule", "one", "other", "expected"),
    [
        (Rule.ALL_COMPLETED, COMPLETED, COMPLETED, COMPLETED),
        (Rule.ALL_COMPLETED, COMPLETED, FAILED, SKIPPED),
        (Rule.ALL_SETTLED, TIMED_OUT, FAILED, COMPLETED),
        (Rule.ANY_FAILED, COMPLETED, COMPLETED, SKIPPED),
        (Rule.ANY_FAILED, COMPLETED, TIMED_OUT, COMPLETED),
        (Rule.ANY_FAILED, FAILED, COMPLETED, COMPLETED),
        (Rule.NONE_FAILED, COMPLETED, COMPLETED, COMPLETED),
        (Rule.NONE_FAILED, COMPLETED, TIMED_OUT, SKIPPED),
        (Rule.ANY_COMPLETED, FAILED, COMPLETED, COMPLETED),
        (Rule.ANY_COMPLETED, FAILED, TIMED_OUT, SKIPPED),
    ],
)
def test_a_task_runs_if_its_rule_allows_it(
    rule: Rule, one: TaskState, other: TaskState, expected: TaskState
) -> None:
    tasks = (*A_AND_B, Declared("c", ("a", "b"), rule))
    assert ends(tasks, verdicts={"a": one, "b": other, "c": COMPLETED})["c"] is expected


@pytest.mark.parametrize(
    ("listed", "items", "expected"),
    [
        (COMPLETED, [], COMPLETED),
        (COMPLETED, [COMPLETED, FAILED], COMPLETED),
        (COMPLETED, [FAILED, CANCELLED, COMPLETED], FAILED),
        (FAILED, [], FAILED),
    ],
)
def test_a_fan_out_needs_a_list_and_few_enough_failures(
    listed: TaskState, items: list[TaskState], expected: TaskState
) -> None:
    fan_out = Declared("f", ("a",), Rule.ALL_SETTLED, list_of="a", tolerate=1)
    found = ends((Declared("a"), fan_out), verdicts={"a": listed}, items={"f": items})
    assert found == {"a": listed, "f": expected}


INNER = (
    Declared("n[a]"),
    Declared("n[b]", ("n[a]",)),
    Declared("n[c]", ("n[a]",), Rule.ANY_FAILED),
)
NESTED = (Declared("n", inner=INNER),)


@pytest.mark.parametrize(
    ("first", "expected"),
    [
        (COMPLETED, {"n[a]": COMPLETED, "n[b]": COMPLETED, "n[c]": SKIPPED, "n": COMPLETED}),
        (FAILED, {"n[a]": FAILED, "n[b]": SKIPPED, "n[c]": COMPLETED, "n": FAILED}),
    ],
)
def test_a_job_that_is_a_task_ends_as_its_tasks_do(
    first: TaskState, expected: dict[str, TaskState]
) -> None:
    verdicts = {"n[a]": first, "n[b]": COMPLETED, "n[c]": COMPLETED}
    assert ends(NESTED, verdicts=verdicts) == expected


@pytest.mark.parametrize("selected", [set(), {"n"}, {"n[a]"}])
def test_a_redrive_of_a_job_runs_what_failed_in_it(selected: set[str]) -> None:
    states = {"n[a]": FAILED, "n[b]": SKIPPED, "n[c]": COMPLETED, "n": FAILED}
    reopening = reopened(NESTED, states, selected)
    assert reopening.again == {"n", "n[a]", "n[b]"}
    after = ends(
        NESTED,
        verdicts=dict.fromkeys(states, COMPLETED),
        before=states,
        reopening=reopening,
    )
    assert after == dict.fromkeys(states, COMPLETED)


def test_what_is_skipped_or_cancelled_is_no_failure() -> None:
    watchman = Declared("w", ("b",), Rule.ANY_FAILED)
    verdicts = {"a": FAILED, "w": COMPLETED}
    assert ends((*CHAIN, watchman), verdicts=verdicts) == {
        "a": FAILED,
        "b": SKIPPED,
        "c": SKIPPED,
        "w": SKIPPED,
    }
    assert ends((*CHAIN, watchman), verdicts=verdicts, cancelled={"a"})["w"] is SKIPPED


def test_the_worst_end_is_that_of_the_job() -> None:
    assert outcome({"a": COMPLETED, "b": SKIPPED}) is JobState.COMPLETED
    assert outcome({"a": COMPLETED, "b": TIMED_OUT}) is JobState.FAILED
    assert outcome({"a": FAILED, "b": CANCELLED}) is JobState.CANCELLED


def test_a_redrive_runs_again_what_failed_and_what_was_skipped_for_it() -> None:
    states = {"a": COMPLETED, "b": FAILED, "c": SKIPPED}
    reopening = reopened(CHAIN, states)
    assert reopening.again == {"b", "c"}
    assert reopening.whatever_its_rule == {"b"}
    after = ends(
        CHAIN, verdicts=dict.fromkeys("abc", COMPLETED), before=states, reopening=reopening
    )
    assert after == dict.fromkeys("abc", COMPLETED)


def test_what_is_redriven_by_name_runs_though_its_parent_failed() -> None:
    states = {"a": FAILED, "b": SKIPPED, "c": SKIPPED}
    reopening = reopened(CHAIN, states, {"b"})
    after = ends(
        CHAIN, verdicts={"b": COMPLETED, "c": TIMED_OUT}, before=states, reopening=reopening
    )
    assert after == {"a": FAILED, "b": COMPLETED, "c": TIMED_OUT}


def test_a_redrive_goes_no_further_than_what_completed() -> None:
    tasks = (Declared("a"), Declared("b", ("a",), Rule.ALL_SETTLED), Declared("c", ("b",)))
    states = {"a": FAILED, "b": COMPLETED, "c": FAILED}
    assert reopened(tasks, states, {"a"}).again == {"a"}
