"""Fan-outs and their items are read, cancelled and redriven like other tasks."""

from functools import partial

import pytest

from switchyard.contracts.changes import RedriveJob
from switchyard.domain.errors import Conflict, Invalid, UnknownTask
from switchyard.domain.states import JobState, TaskState
from switchyard.usecases.jobs.read_jobs import read_job, task_ref
from tests.builders import JOB_ID, TENANT
from tests.fakes.harnesses.fan_out_harness import FanOutHarness
from tests.fakes.harnesses.job_harness import FAILED, Crash, crashing

COMPLETED, WAITING = TaskState.COMPLETED, TaskState.WAITING


@pytest.fixture
def harness() -> FanOutHarness:
    return FanOutHarness()


def failed_job(harness: FanOutHarness, *failed: int, **more: object) -> None:
    harness.fan_out(**more)
    for number in range(3):
        name = f"review[{number}]"
        harness.complete(name, number, FAILED) if number in failed else harness.complete(
            name, number
        )
    harness.deliver()


def redrive(harness: FanOutHarness, *names: str) -> None:
    harness.redrives.request_redrive(harness.job, RedriveJob(tasks=names))
    harness.deliver()


@pytest.mark.parametrize("named", [(), ("review",), ("review[1]",)])
def test_a_redriven_item_keeps_its_siblings(harness: FanOutHarness, named: tuple[str, ...]) -> None:
    failed_job(harness, 1)
    assert harness.job_state() is JobState.FAILED
    before = harness.task("review[0]")
    redrive(harness, *named)
    assert harness.state("review") is WAITING
    assert harness.task("review[0]") == before
    harness.complete("review[1]", "again")
    assert harness.output() == [0, "again", 2]
    harness.complete("sum", None)
    harness.deliver()
    assert harness.job_state() is JobState.COMPLETED
    assert harness.runs() == {
        "list": 1,
        "review": 2,
        "review[0]": 1,
        "review[1]": 2,
        "review[2]": 1,
        "sum": 2,
    }


def test_an_item_whose_failure_was_tolerated_is_redriven_by_name_only(
    harness: FanOutHarness,
) -> None:
    failed_job(harness, 1, tolerate=1)
    harness.complete("sum", "first")
    harness.deliver()
    assert harness.job_state() is JobState.COMPLETED
    with pytest.raises(Conflict, match="nothing to redrive"):
        redrive(harness)
    redrive(harness, "review[1]")
    harness.complete("review[1]", "again")
    harness.deliver()
    assert harness.output() == [0, "again", 2]
    assert harness.runs()["sum"] == 1
    assert harness.job_state() is JobState.COMPLETED


def test_a_list_that_could_not_be_used_is_read_again(harness: FanOutHarness) -> None:
    harness.fan_out({"not": "a list"})
    harness.deliver()
    assert harness.job_state() is JobState.FAILED
    redrive(harness, "review")
    harness.deliver()
    assert harness.task("review").run == 2
    assert harness.job_state() is JobState.FAILED


def test_a_fan_out_that_has_items_is_not_given_another_input(harness: FanOutHarness) -> None:
    failed_job(harness, 1)
    request = RedriveJob.model_validate({"tasks": ["review"], "input": {"file": "other"}})
    with pytest.raises(Invalid, match="items were made of the input it had"):
        harness.redrives.request_redrive(harness.job, request)


def test_an_item_is_given_another_input(harness: FanOutHarness) -> None:
    failed_job(harness, 1)
    request = RedriveJob.model_validate({"tasks": ["review[1]"], "input": {"file": "other"}})
    harness.redrives.request_redrive(harness.job, request)
    harness.deliver()
    assert harness.input("review[1]") == {"file": "other"}


def test_a_cancelled_fan_out_ends_after_its_items(harness: FanOutHarness) -> None:
    harness.fan_out()
    harness.complete("review[0]", 0)
    harness.cancels.request_cancel(harness.job)
    harness.deliver()
    assert harness.job_state() is JobState.CANCELLED
    assert harness.states() == {
        "list": COMPLETED,
        "review": TaskState.CANCELLED,
        "review[0]": COMPLETED,
        "review[1]": TaskState.CANCELLED,
        "review[2]": TaskState.CANCELLED,
        "sum": TaskState.CANCELLED,
    }
    redrive(harness)
    for number in (1, 2):
        harness.complete(f"review[{number}]", number)
    assert harness.output() == [0, 1, 2]


def test_a_fan_out_cancelled_while_it_is_written_runs_nothing_and_can_be_redriven(
    harness: FanOutHarness,
) -> None:
    harness.begin()
    original = harness.memory.fan_outs.open
    harness.memory.fan_outs.open = crashing(original, after=False)  # type: ignore[assignment]
    with pytest.raises(Crash):
        harness.complete("list", {"items": ["a", "b"]})
    harness.cancels.request_cancel(harness.job)
    harness.deliver()
    assert harness.job_state() is JobState.CANCELLED
    assert harness.state("review[0]") is WAITING
    visible = harness.memory.jobs.picture(harness.job).visible_tasks
    assert [task.ref.task_id for task in visible] == ["list", "review", "sum"]
    harness.memory.fan_outs.open = original  # type: ignore[method-assign]
    redrive(harness)
    for number in (0, 1):
        harness.complete(f"review[{number}]", number)
    assert harness.output() == [0, 1]


def test_one_item_is_cancelled_alone(harness: FanOutHarness) -> None:
    harness.fan_out(tolerate=1)
    harness.cancels.cancel_task(harness.job.task("review[1]"))
    harness.deliver()
    for number in (0, 2):
        harness.complete(f"review[{number}]", number)
    assert harness.output() == [0, None, 2]
    harness.complete("sum", None)
    harness.deliver()
    assert harness.job_state() is JobState.COMPLETED


def test_a_fan_out_that_may_have_items_is_not_given_another_input(harness: FanOutHarness) -> None:
    """The writer stopped before it could note what it had written."""
    harness.begin()
    crash = crashing(harness.memory.intake.write_part, after=True)
    harness.memory.intake.write_part = crash  # type: ignore[method-assign,assignment]
    with pytest.raises(Crash):
        harness.complete("list", {"items": ["a"]})
    harness.cancels.request_cancel(harness.job)
    harness.deliver()
    request = RedriveJob.model_validate({"tasks": ["review"], "input": "other"})
    with pytest.raises(Invalid, match="items were made of the input it had"):
        harness.redrives.request_redrive(harness.job, request)


@pytest.mark.parametrize("name", ["pages[3][a-b]", "pages%5B3%5D%5Ba-b%5D"])
def test_an_item_of_a_fan_out_is_named_with_its_keys(name: str) -> None:
    assert task_ref("acme", JOB_ID, name).task_id == "pages[3][a-b]"


@pytest.mark.parametrize(
    "name", ["__fan-pages", "pages[", "pages[]", "[3]", "p" + "[1]" * 9, "pages[a/b]", "a%2Fb"]
)
def test_anything_else_names_no_task(name: str) -> None:
    with pytest.raises(UnknownTask):
        task_ref("acme", JOB_ID, name)


def test_an_answer_without_room_leaves_items_out(
    harness: FanOutHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    harness.fan_out(tuple(range(90)))
    read = partial(read_job, TENANT, harness.job.job_id, jobs=harness.memory.jobs)
    assert (len(read().tasks), read().left_out) == (93, ())
    monkeypatch.setattr("switchyard.usecases.jobs.read_jobs.MAX_ANSWER_BYTES", 5_000)
    assert [task.task_id for task in read().tasks] == ["list", "review", "sum"]
    assert read().left_out == ("dependsOn", "error", "items")
    assert read().progress["pending"] == 90
