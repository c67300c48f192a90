"""The reference is small enough to be checked by hand: here is that check."""

import pytest

from switchyard.domain.states import JobState, Rule, TaskKind, TaskState
from tests.simulation.held import Form, Held, When
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


@pytest.mark.parametrize(
    ("held", "decision", "expected"),
    [
        (Held(TaskKind.WAIT, seconds=1), None, COMPLETED),
        (Held(TaskKind.SIGNAL, seconds=1), None, FAILED),
        (Held(TaskKind.SIGNAL, answers=("yes",)), "yes.1.0", COMPLETED),
        (Held(TaskKind.APPROVAL, answers=("no",)), "no.1.0", COMPLETED),
        (Held(TaskKind.APPROVAL, answers=("no",), on_reject="fail"), "no.1.0", FAILED),
        (Held(TaskKind.APPROVAL, seconds=1), None, FAILED),
        (Held(TaskKind.APPROVAL, seconds=1, on_timeout="approve"), None, COMPLETED),
        (Held(TaskKind.APPROVAL, seconds=1, on_timeout="reject", on_reject="fail"), None, FAILED),
    ],
)
def test_a_held_task_ends_by_its_decision_or_by_time(
    held: Held, decision: str | None, expected: TaskState
) -> None:
    assert held.end(decision) is expected
    assert held.problem_with(decision) is None


def test_a_decision_that_nobody_made_and_an_end_without_a_time_are_found() -> None:
    approval = Held(TaskKind.APPROVAL, answers=("yes",))
    assert approval.problem_with("no.1.0") == "ended by no.1.0, which nobody said"
    assert approval.problem_with(None) == "ended by time, though it has as long as it wants"


@pytest.mark.parametrize(
    ("form", "parent", "approved", "expected"),
    [
        (Form.EXISTS, COMPLETED, False, COMPLETED),
        (Form.EXISTS, FAILED, False, SKIPPED),
        (Form.IS_NULL, COMPLETED, False, SKIPPED),
        (Form.IS_THERE, COMPLETED, False, COMPLETED),
        (Form.IS_THERE, FAILED, False, FAILED),
        (Form.APPROVED, COMPLETED, True, COMPLETED),
        (Form.APPROVED, COMPLETED, False, SKIPPED),
        (Form.APPROVED, SKIPPED, False, FAILED),
    ],
)
def test_a_condition_is_asked_after_the_rule(
    form: Form, parent: TaskState, approved: bool, expected: TaskState
) -> None:
    child = Declared("c", ("a",), Rule.ALL_SETTLED, when=When(form, "a"))
    verdicts = {"a": parent, "c": COMPLETED}
    found = ends((Declared("a"), child), verdicts=verdicts, approved={"a": approved})
    assert found["c"] is expected
    strict = Declared("c", ("a",), when=When(form, "a"))
    found = ends((Declared("a"), strict), verdicts=verdicts, approved={"a": approved})
    assert found["c"] is (expected if parent is COMPLETED else SKIPPED)


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
