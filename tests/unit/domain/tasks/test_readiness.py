"""Every rule, and every way in which parents can end: what becomes of the child."""

import pytest

from switchyard.domain.ids import END
from switchyard.domain.states import FAILURES, Rule, TaskState
from switchyard.domain.tasks.readiness import Readiness, decide_readiness
from switchyard.domain.tasks.task import Outcome, Task
from tests.builders import a_task

NOT_COMPLETED = sorted({*FAILURES, TaskState.SKIPPED, TaskState.CANCELLED})


def waiting(task_id: str, parents: dict[str, Task], **facts: object) -> Task:
    return a_task(task_id, state=TaskState.WAITING, not_completed=frozenset(parents), **facts)


def ended(**states: TaskState) -> dict[str, Task]:
    return {name: a_task(name, state=state) for name, state in states.items()}


def decided(rule: Rule, parents: dict[str, Task]) -> Readiness:
    return decide_readiness(waiting("child", parents, rule=rule), parents)


def behind_a_relay(parents: dict[str, Task], name: str = "__relay-0") -> dict[str, Task]:
    """The relay as its verdict leaves it, by its name."""
    verdict = decide_readiness(waiting(name, parents), parents)
    assert verdict.state is TaskState.NOT_COMPLETED
    outcome = Outcome(state=verdict.state, error=verdict.reason, error_category=verdict.category)
    return {name: a_task(name, state=verdict.state, outcome=outcome)}


@pytest.mark.parametrize("rule", [Rule.ALL_COMPLETED, Rule.ALL_SETTLED])
def test_a_task_whose_parents_all_completed_is_ready(rule: Rule) -> None:
    assert decided(rule, {}) == Readiness(TaskState.READY, f"{rule.value} holds")


@pytest.mark.parametrize("through_relays", [0, 1, 2])
@pytest.mark.parametrize("state", NOT_COMPLETED)
def test_relays_change_nothing_about_a_verdict(state: TaskState, through_relays: int) -> None:
    parents = ended(a=state)
    for level in range(through_relays):
        parents = behind_a_relay(parents, f"__relay-{level}")
    assert decided(Rule.ALL_COMPLETED, parents) == Readiness(
        TaskState.SKIPPED, "did not complete: a"
    )
    assert decided(Rule.ALL_SETTLED, parents).state is TaskState.READY
    assert decided(Rule.ANY_FAILED, parents) == (
        Readiness(TaskState.READY, "any_failed holds")
        if state.failure
        else Readiness(TaskState.SKIPPED, "no parent failed")
    )


def test_nobody_failed_when_everybody_completed() -> None:
    assert decided(Rule.ANY_FAILED, {}) == Readiness(TaskState.SKIPPED, "no parent failed")


def test_one_failure_among_many_is_enough() -> None:
    parents = behind_a_relay(
        behind_a_relay(ended(a=TaskState.SKIPPED, b=TaskState.TIMED_OUT))
        | ended(c=TaskState.CANCELLED),
        "__relay-1",
    )
    assert decided(Rule.ANY_FAILED, parents | ended(d=TaskState.SKIPPED)).state is TaskState.READY


def test_few_of_many_that_did_not_complete_are_named() -> None:
    failed = {f"t{n:03d}": TaskState.FAILED for n in range(250)}
    names = list(failed)
    relays = {
        **behind_a_relay(ended(**{name: failed[name] for name in names[:100]}), "__relay-0"),
        **behind_a_relay(ended(**{name: failed[name] for name in names[100:200]}), "__relay-1"),
        **ended(**{name: failed[name] for name in names[200:]}),
    }
    first = ", ".join(names[:10])
    assert decided(Rule.ALL_COMPLETED, relays).reason == f"did not complete: {first} and 240 more"


def test_the_longest_names_leave_a_short_sentence() -> None:
    parents = ended(**{f"{n:03d}".ljust(128, "x"): TaskState.FAILED for n in range(100)})
    assert len(decided(Rule.ALL_COMPLETED, parents).reason) < 1_500


@pytest.mark.parametrize("relay", ["__relay-0", "__added-3", "__relay-r2-0"])
def test_a_relay_passes_on_what_it_waited_for(relay: str) -> None:
    parents = ended(b=TaskState.SKIPPED, a=TaskState.FAILED)
    assert decide_readiness(waiting(relay, {}), {}).state is TaskState.COMPLETED
    assert decide_readiness(waiting(relay, parents), parents) == Readiness(
        TaskState.NOT_COMPLETED, "did not complete: a, b", "failure"
    )
    assert decide_readiness(waiting(relay, skipped := ended(b=TaskState.SKIPPED)), skipped) == (
        Readiness(TaskState.NOT_COMPLETED, "did not complete: b")
    )


def test_a_failed_task_whose_error_is_called_failure_is_no_relay() -> None:
    cancelled = a_task(
        "a",
        state=TaskState.CANCELLED,
        outcome=Outcome(state=TaskState.CANCELLED, error_category="failure"),
    )
    assert decided(Rule.ANY_FAILED, {"a": cancelled}).state is TaskState.SKIPPED


def test_the_end_completes_however_its_sinks_ended() -> None:
    parents = ended(a=TaskState.FAILED)
    assert decide_readiness(waiting(END, parents), parents).state is TaskState.COMPLETED


@pytest.mark.parametrize("rule", list(Rule))
def test_a_flagged_task_is_cancelled_whatever_its_rule(rule: Rule) -> None:
    parents = ended(a=TaskState.FAILED)
    task = waiting("child", parents, rule=rule, cancel_requested=True)
    assert decide_readiness(task, parents) == Readiness(
        TaskState.CANCELLED, "cancellation was requested"
    )
