"""The same tasks are asked for again: what is in the job already counts as added."""

from typing import Any

import pytest

from switchyard.contracts.jobs import AddTasks
from switchyard.domain.errors import InvalidJob, NotNow
from switchyard.domain.states import JobState
from tests.fakes.harnesses.growing_harness import AddingHarness, an_addition

WIDE: dict[str, list[str]] = {"first": ["a"], **{f"new-{n}": ["first"] for n in range(70)}}


@pytest.fixture
def harness() -> AddingHarness:
    harness = AddingHarness()
    harness.start({"a": [], "b": ["a"]})
    return harness


def one(**facts: Any) -> AddTasks:
    task = {"taskId": "c", "name": "scrape", "dependsOn": ["a", "b"], "input": {"for": "c"}}
    return AddTasks.model_validate({"tasks": [task | facts]})


def test_the_same_answer_is_given_and_nothing_is_added(harness: AddingHarness) -> None:
    first = harness.add(WIDE)
    jobs, tasks, emitted = (
        dict(harness.memory.state.jobs),
        dict(harness.memory.state.tasks),
        harness.emitted(),
    )
    again = harness.add(WIDE)
    assert set(again.added_tasks) == set(first.added_tasks)
    assert (again.total_tasks_now, again.problem) == (first.total_tasks_now, None)
    assert (harness.memory.state.jobs, harness.memory.state.tasks) == (jobs, tasks)
    assert harness.emitted() == emitted


def test_what_an_earlier_try_did_not_come_to_is_added(harness: AddingHarness) -> None:
    harness.add(dict(list(WIDE.items())[:40]))
    harness.clock.advance(9)
    answer = harness.add(WIDE)
    assert (set(answer.added_tasks), answer.total_tasks_now) == (set(WIDE), 2 + len(WIDE))
    harness.run("a", "b", *WIDE)
    assert harness.job_state() is JobState.COMPLETED


def test_a_job_that_has_ended_meanwhile_says_so_of_what_it_had(harness: AddingHarness) -> None:
    harness.add({"c": []})
    harness.run("a", "b", "c")
    assert harness.add({"c": []}).added_tasks == ("c",)


def test_a_definition_that_was_deleted_since_is_asked_for_by_nobody(harness: AddingHarness) -> None:
    harness.add({"c": []})
    harness.memory.definitions.delete("acme", "scrape", now_ms=harness.clock.now_ms())
    assert harness.add({"c": []}).added_tasks == ("c",)
    with pytest.raises(InvalidJob, match=r"tasks\.1\.name"):
        harness.adder.add(
            harness.job,
            AddTasks(
                tasks=(*an_addition({"c": []}).tasks, *an_addition({"d": []}, name="x").tasks)
            ),
        )


@pytest.mark.parametrize(
    "facts",
    [{"name": "paint"}, {"dependsOn": ["a"]}, {"rule": "all_settled"}, {"input": {"for": True}}],
)
def test_another_task_of_that_name_is_refused(
    harness: AddingHarness, facts: dict[str, Any]
) -> None:
    harness.adder.add(harness.job, one(input={"for": 1}))
    assert harness.adder.add(harness.job, one(input={"for": 1}, dependsOn=["b", "a"])).added_tasks
    with pytest.raises(InvalidJob, match=r"tasks\.0\.taskId: the job has a task 'c' already"):
        harness.adder.add(harness.job, one(**{"input": {"for": 1}} | facts))


def test_problems_are_reported_with_their_place_in_the_request(harness: AddingHarness) -> None:
    harness.add({"c": []})
    with pytest.raises(InvalidJob) as refused:
        harness.add({"c": [], "d": ["x"]})
    (problem,) = refused.value.problems
    assert problem.path == ("tasks", 1, "dependsOn")


def test_while_a_job_is_being_redriven_what_is_missing_has_to_wait(harness: AddingHarness) -> None:
    harness.add({"c": []})
    harness.become(redrive_key="k")
    assert harness.add({"c": []}).added_tasks == ("c",)
    with pytest.raises(NotNow):
        harness.add({"c": [], "d": []})
