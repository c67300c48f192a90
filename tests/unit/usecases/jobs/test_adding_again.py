"""The same tasks are asked for again: what is in the job already counts as added."""

from typing import Any

import pytest

from switchyard.contracts.jobs import AddTasks
from switchyard.domain.errors import InvalidJob, NotNow
from switchyard.domain.states import JobState
from tests.fakes.adding import AddingYard, an_addition

WIDE: dict[str, list[str]] = {"first": ["a"], **{f"new-{n}": ["first"] for n in range(70)}}


@pytest.fixture
def yard() -> AddingYard:
    yard = AddingYard()
    yard.start({"a": [], "b": ["a"]})
    return yard


def one(**facts: Any) -> AddTasks:
    task = {"taskId": "c", "name": "scrape", "dependsOn": ["a", "b"], "input": {"for": "c"}}
    return AddTasks.model_validate({"tasks": [task | facts]})


def test_the_same_answer_is_given_and_nothing_is_added(yard: AddingYard) -> None:
    first = yard.add(WIDE)
    jobs, tasks, told = dict(yard.memory.state.jobs), dict(yard.memory.state.tasks), yard.told()
    again = yard.add(WIDE)
    assert set(again.added_tasks) == set(first.added_tasks)
    assert (again.total_tasks_now, again.problem) == (first.total_tasks_now, None)
    assert (yard.memory.state.jobs, yard.memory.state.tasks) == (jobs, tasks)
    assert yard.told() == told


def test_what_an_earlier_try_did_not_come_to_is_added(yard: AddingYard) -> None:
    yard.add(dict(list(WIDE.items())[:40]))
    yard.clock.advance(9)
    answer = yard.add(WIDE)
    assert (set(answer.added_tasks), answer.total_tasks_now) == (set(WIDE), 2 + len(WIDE))
    yard.run("a", "b", *WIDE)
    assert yard.job_state() is JobState.COMPLETED


def test_a_job_that_has_ended_meanwhile_says_so_of_what_it_had(yard: AddingYard) -> None:
    yard.add({"c": []})
    yard.run("a", "b", "c")
    assert yard.add({"c": []}).added_tasks == ("c",)


def test_a_definition_that_was_deleted_since_is_asked_for_by_nobody(yard: AddingYard) -> None:
    yard.add({"c": []})
    yard.memory.definitions.delete("acme", "scrape", now_ms=yard.clock.now_ms())
    assert yard.add({"c": []}).added_tasks == ("c",)
    with pytest.raises(InvalidJob, match=r"tasks\.1\.name"):
        yard.adder.add(
            yard.job,
            AddTasks(
                tasks=(*an_addition({"c": []}).tasks, *an_addition({"d": []}, name="x").tasks)
            ),
        )


@pytest.mark.parametrize(
    "facts",
    [{"name": "paint"}, {"dependsOn": ["a"]}, {"rule": "all_settled"}, {"input": {"for": True}}],
)
def test_another_task_of_that_name_is_refused(yard: AddingYard, facts: dict[str, Any]) -> None:
    yard.adder.add(yard.job, one(input={"for": 1}))
    assert yard.adder.add(yard.job, one(input={"for": 1}, dependsOn=["b", "a"])).added_tasks
    with pytest.raises(InvalidJob, match=r"tasks\.0\.taskId: the job has a task 'c' already"):
        yard.adder.add(yard.job, one(**{"input": {"for": 1}} | facts))


def test_problems_are_told_where_they_are_in_the_request(yard: AddingYard) -> None:
    yard.add({"c": []})
    with pytest.raises(InvalidJob) as refused:
        yard.add({"c": [], "d": ["x"]})
    (problem,) = refused.value.problems
    assert problem.path == ("tasks", 1, "dependsOn")


def test_while_a_job_is_being_redriven_what_is_missing_has_to_wait(yard: AddingYard) -> None:
    yard.add({"c": []})
    yard.become(redrive_key="k")
    assert yard.add({"c": []}).added_tasks == ("c",)
    with pytest.raises(NotNow):
        yard.add({"c": [], "d": []})
