"""Jobs that are tasks, and the tasks in them, are read, cancelled and redriven like others."""

import pytest

from switchyard.contracts.changes import RedriveJob
from switchyard.domain.errors import Conflict, Invalid
from switchyard.domain.states import JobState, TaskState
from switchyard.usecases.jobs.read_jobs import read_job
from tests.builders import TENANT
from tests.fakes.harnesses.job_harness import FAILED, Crash, crashing
from tests.fakes.harnesses.nested_harness import CHECK, DRAFT, NestedHarness

CANCELLED, COMPLETED, WAITING = TaskState.CANCELLED, TaskState.COMPLETED, TaskState.WAITING


@pytest.fixture
def harness() -> NestedHarness:
    return NestedHarness()


def redrive(harness: NestedHarness, *names: str, **more: object) -> None:
    request = RedriveJob.model_validate({"tasks": names, **more})
    harness.redrives.request_redrive(harness.job, request)
    harness.deliver()


def failed_job(harness: NestedHarness) -> None:
    harness.nest()
    harness.complete("part[draft]", {"text": "of trains"})
    harness.complete("part[check]", None, FAILED)
    harness.deliver()
    assert harness.job_state() is JobState.FAILED


@pytest.mark.parametrize("named", [(), ("part",), ("part[check]",)])
def test_one_task_of_it_is_redriven_and_the_others_stay(
    harness: NestedHarness, named: tuple[str, ...]
) -> None:
    failed_job(harness)
    redrive(harness, *named)
    assert harness.state("part") is WAITING
    harness.complete("part[check]", True)
    assert harness.output("part") == {"text": "of trains", "ok": True}
    harness.complete("sum", None)
    harness.deliver()
    assert harness.job_state() is JobState.COMPLETED
    runs = {"list": 1, "part": 2, "part[draft]": 1, "part[check]": 2, "sum": 2}
    assert harness.runs() == runs


def test_it_makes_its_tasks_anew_when_it_runs_again(harness: NestedHarness) -> None:
    failed_job(harness)
    asked = RedriveJob.model_validate({"from": ["part"], "dryRun": True})
    planned = harness.redrives.request_redrive(harness.job, asked).planned_tasks
    assert [(one.task_id, one.items) for one in planned] == [("part", 2), ("sum", None)]
    redrive(harness, **{"from": ["part"]})
    harness.deliver()
    harness.complete("part[draft]", {"text": "of ships"})
    harness.complete("part[check]", True)
    assert harness.output("part") == {"text": "of ships", "ok": True}
    harness.complete("sum", None)
    harness.deliver()
    assert harness.job_state() is JobState.COMPLETED
    runs = {"list": 1, "part": 2, "part[draft]": 2, "part[check]": 2, "sum": 2}
    assert harness.runs() == runs


def test_what_its_condition_skipped_is_not_run_by_a_redrive_of_the_whole(
    harness: NestedHarness,
) -> None:
    again = {**CHECK, "taskId": "again", "when": "${tasks.draft.output.bad}"}
    harness.template(tasks=[DRAFT, CHECK, again])
    harness.nest()
    harness.complete("part[draft]", {"text": "", "bad": False})
    harness.complete("part[check]", None, FAILED)
    harness.deliver()
    redrive(harness, "part")
    assert harness.state("part[again]") is TaskState.SKIPPED
    harness.complete("part[check]", True)
    assert harness.state("part") is COMPLETED


def test_a_redriven_part_of_a_fan_out_reaches_all_that_gather(harness: NestedHarness) -> None:
    harness.nest(forEach="${tasks.list.output.items}", input={"topic": "${item}"}, tolerate=1)
    harness.complete("part[0][draft]", None, FAILED)
    harness.complete("part[1][draft]", {"text": "of b"})
    harness.complete("part[1][check]", True)
    harness.complete("sum", None)
    harness.deliver()
    assert harness.job_state() is JobState.COMPLETED
    with pytest.raises(Conflict, match="nothing to redrive"):
        redrive(harness)
    redrive(harness, "part[0]")
    harness.complete("part[0][draft]", {"text": "of a"})
    harness.complete("part[0][check]", True)
    harness.deliver()
    assert harness.output("part") == [{"text": f"of {one}", "ok": True} for one in "ab"]
    assert harness.job_state() is JobState.COMPLETED


def test_a_fan_out_of_jobs_makes_jobs_and_their_tasks_anew(harness: NestedHarness) -> None:
    harness.nest(forEach="${tasks.list.output.items}", input={"topic": "${item}"})
    for number in range(2):
        harness.complete(f"part[{number}][draft]", {"text": "old"})
        harness.complete(f"part[{number}][check]", True)
    harness.complete("sum", None)
    harness.deliver()
    redrive(harness, **{"from": ["list"]})
    harness.complete("list", {"items": ["c"]})
    harness.deliver()
    harness.complete("part[0][draft]", {"text": "new"})
    harness.complete("part[0][check]", False)
    harness.deliver()
    assert harness.output("part") == [{"text": "new", "ok": False}]
    gone = ("part[1]", "part[1][draft]", "part[1][check]")
    assert {harness.state(name) for name in gone} == {TaskState.SKIPPED}
    harness.complete("sum", None)
    harness.deliver()
    assert harness.job_state() is JobState.COMPLETED


def test_it_waits_for_a_redriven_task_whose_followers_have_completed(
    harness: NestedHarness,
) -> None:
    harness.template(tasks=[DRAFT, {**CHECK, "rule": "all_settled", "input": None}], output=1)
    harness.nest()
    harness.complete("part[draft]", None, FAILED)
    harness.complete("part[check]", True)
    harness.deliver()
    redrive(harness)
    assert harness.state("part") is WAITING
    harness.complete("part[draft]", {"text": ""})
    assert harness.state("part") is COMPLETED


def test_a_fan_out_that_completed_stays_when_what_it_followed_is_redriven(
    harness: NestedHarness,
) -> None:
    after = {"taskId": "each", "name": "scrape", "dependsOn": ["draft"], "rule": "all_settled"}
    each = {**after, "forEach": "${input.list}", "input": "${item}"}
    harness.template(tasks=[{**DRAFT, "input": None}, {**each, "input": None}], output=1)
    harness.nest(input={"list": [1]})
    harness.complete("part[draft]", None, FAILED)
    harness.complete("part[each][0]", 1)
    harness.deliver()
    redrive(harness, "part[draft]")
    assert harness.runs()["part[each]"] == 1


def test_a_cancelled_job_cancels_what_is_in_it(harness: NestedHarness) -> None:
    harness.nest()
    harness.cancels.request_cancel(harness.job)
    harness.deliver()
    assert harness.job_state() is JobState.CANCELLED
    assert harness.states() == {
        "list": COMPLETED,
        "part": CANCELLED,
        "part[draft]": CANCELLED,
        "part[check]": CANCELLED,
        "sum": CANCELLED,
    }
    redrive(harness)
    harness.complete("part[draft]", {"text": "of trains"})
    harness.complete("part[check]", True)
    assert harness.output("part") == {"text": "of trains", "ok": True}


def test_one_cancelled_while_it_is_written_runs_nothing_and_can_be_redriven(
    harness: NestedHarness,
) -> None:
    harness.begin()
    original = harness.memory.fan_outs.open
    harness.memory.fan_outs.open = crashing(original, after=False)  # type: ignore[assignment]
    with pytest.raises(Crash):
        harness.complete("list", {"topic": "trains"})
    harness.cancels.request_cancel(harness.job)
    harness.deliver()
    assert harness.job_state() is JobState.CANCELLED
    check = harness.task("part[check]")
    assert (check.state, check.cancel_requested) == (WAITING, False)
    visible = harness.memory.jobs.picture(harness.job).visible_tasks
    assert [task.ref.task_id for task in visible] == ["list", "part", "sum"]
    harness.memory.fan_outs.open = original  # type: ignore[method-assign]
    redrive(harness)
    harness.complete("part[draft]", {"text": "of trains"})
    harness.complete("part[check]", True)
    assert harness.state("part") is COMPLETED


def test_a_cancelled_task_of_it_fails_it(harness: NestedHarness) -> None:
    harness.nest()
    harness.complete("part[draft]", {"text": "of trains"})
    harness.cancels.cancel_task(harness.job.task("part[check]"))
    harness.deliver()
    assert harness.error("part") == "1 of 2 tasks did not complete: part[check]"


def test_a_task_of_it_is_given_another_input_in_the_words_of_the_template(
    harness: NestedHarness,
) -> None:
    failed_job(harness)
    with pytest.raises(Invalid, match="names 'list', which does not exist"):
        redrive(harness, "part[check]", input="${tasks.list.output}")
    with pytest.raises(Invalid, match="items were made of the input it had"):
        redrive(harness, "part", input={"topic": "planes"})
    redrive(harness, "part[check]", input="see ${tasks.draft.output.text}")
    assert harness.input("part[check]") == "see ${tasks.draft.output.text}"


def test_people_see_whom_its_tasks_follow(harness: NestedHarness) -> None:
    each = {**CHECK, "taskId": "each", "forEach": "${tasks.draft.output.list}", "input": None}
    harness.template(tasks=[DRAFT, CHECK, each])
    harness.nest()
    harness.complete("part[draft]", {"text": "", "list": [1]})
    view = read_job(TENANT, harness.job.job_id, jobs=harness.memory.jobs)
    assert {task.task_id: task.depends_on for task in view.tasks} == {
        "list": (),
        "part": ("list",),
        "part[draft]": (),
        "part[check]": ("part[draft]",),
        "part[each]": ("part[draft]",),
        "part[each][0]": ("part[draft]",),
        "sum": ("part",),
    }


def test_an_approval_in_it_is_held_like_any_other(harness: NestedHarness) -> None:
    gate = {"taskId": "gate", "kind": "approval", "dependsOn": ["draft"], "question": "Well?"}
    harness.template(tasks=[DRAFT, gate], output="${tasks.gate.output}")
    harness.nest()
    harness.complete("part[draft]", {"text": ""})
    assert harness.state("part[gate]") is TaskState.HELD
    assert harness.state("part") is WAITING
