"""Redriving a settled job, on in-memory twins."""

from dataclasses import replace

import pytest

from switchyard.contracts.changes import RedriveJob
from switchyard.domain.errors import Conflict, Invalid, NotNow, UnknownJob, UnknownTask
from switchyard.domain.ids import END, JobRef
from switchyard.domain.states import JobState, Rule, TaskState
from switchyard.domain.tasks.task import Overrides
from tests.builders import DIAMOND, TENANT
from tests.fakes.harnesses.changed_harness import ChangedHarness
from tests.fakes.harnesses.job_harness import FAILED

CHAIN: dict[str, list[str]] = {"a": [], "b": ["a"], "c": ["b"]}


@pytest.fixture
def harness() -> ChangedHarness:
    return ChangedHarness()


@pytest.fixture
def failed(harness: ChangedHarness) -> ChangedHarness:
    """`b` failed in the middle, so that `c` was skipped."""
    harness.start(CHAIN)
    harness.settle("a")
    harness.settle("b", FAILED)
    harness.deliver()
    assert harness.job_state() is JobState.FAILED
    return harness


def test_the_failed_task_runs_again_with_what_follows_it_and_nothing_else(
    failed: ChangedHarness,
) -> None:
    before = failed.task("a")
    answer = failed.redrives.request_redrive(failed.job, RedriveJob())
    assert (answer.status, answer.run, answer.ready_tasks, answer.reopened_tasks) == (
        "redriving",
        2,
        ("b",),
        2,
    )
    failed.deliver()
    assert failed.states() == {
        "a": TaskState.COMPLETED,
        "b": TaskState.QUEUED,
        "c": TaskState.WAITING,
    }
    assert failed.queued() >= {"b"}
    failed.settle("b")
    failed.settle("c")
    failed.deliver()
    assert failed.job_state() is JobState.COMPLETED
    assert failed.task("a") == before
    assert failed.runs() == {"a": 1, "b": 2, "c": 2}


def test_an_event_is_emitted_for_each_reopened_task(failed: ChangedHarness) -> None:
    failed.redrive()
    failed.deliver()
    emitted = [e for e in failed.memory.bus.events if e.event_type == "Task Redriven"]
    said = {e.entity_id.rpartition("__")[2]: e.detail()["properties"] for e in emitted}
    assert said.keys() == {"b", "c"}
    assert (said["b"]["run"], said["b"]["jobRun"], said["b"]["previousStatus"]) == (2, 2, "failed")
    assert said["c"]["previousStatus"] == "skipped"
    assert said["b"]["fence"] == failed.task("b").fence - 1  # it was queued since
    pending = [e for e in failed.memory.bus.events if e.event_type == "Task Pending"]
    assert pending[-1].timestamp == failed.task("b").ready_at_ms


def test_the_job_begins_another_run_with_nothing_of_the_last(failed: ChangedHarness) -> None:
    failed.redrive()
    assert failed.job_state() is JobState.REDRIVING
    failed.deliver()
    job = failed.the_job()
    assert (job.state, job.run, job.redrive_key) == (JobState.OPEN, 2, None)
    assert (job.settled_at_ms, job.failed_task_id, job.failure_detected_at_ms) == (None, None, None)


def test_the_events_of_a_job_that_fails_again_are_emitted_again(failed: ChangedHarness) -> None:
    failed.redrive()
    failed.deliver()
    failed.settle("b", FAILED)
    failed.deliver()
    assert failed.job_state() is JobState.FAILED
    emitted = failed.emitted()
    assert (emitted["Job Failure Detected"], emitted["Job Failed"]) == (2, 2)


def test_without_names_all_that_failed_or_was_cancelled_is_redriven(
    harness: ChangedHarness,
) -> None:
    harness.start({"ok": [], "bad": [], "gone": [], "cleanup": ["ok"]}, cleanup=Rule.ANY_FAILED)
    harness.settle("ok")
    harness.settle("bad", FAILED)
    harness.cancels.cancel_task(harness.job.task("gone"))
    harness.deliver()
    harness.redrive()
    harness.deliver()
    assert harness.runs() == {"ok": 1, "bad": 2, "gone": 2, "cleanup": 1}
    assert harness.states()["cleanup"] is TaskState.SKIPPED


def test_a_skipped_task_runs_when_it_is_named_though_its_parent_failed(
    failed: ChangedHarness,
) -> None:
    failed.redrive("c")
    failed.deliver()
    assert failed.states() == {
        "a": TaskState.COMPLETED,
        "b": TaskState.FAILED,
        "c": TaskState.QUEUED,
    }
    failed.settle("c")
    failed.deliver()
    assert failed.job_state() is JobState.FAILED


def test_a_parent_that_is_not_redriven_still_counts(harness: ChangedHarness) -> None:
    harness.start({"a": [], "b": [], "c": ["a", "b"]})
    harness.settle("a", FAILED)
    harness.settle("b", FAILED)
    harness.deliver()
    harness.redrive("a")
    harness.deliver()
    assert harness.task("c").not_completed == {"b"}
    harness.settle("a")
    harness.deliver()
    assert harness.states()["c"] is TaskState.SKIPPED
    assert harness.job_state() is JobState.FAILED


def test_the_end_waits_for_a_task_whose_dependents_completed(harness: ChangedHarness) -> None:
    harness.start({"a": [], "b": ["a"]}, b=Rule.ALL_SETTLED)
    harness.settle("a", FAILED)
    harness.settle("b")
    harness.deliver()
    harness.redrive()
    harness.deliver()
    assert harness.task(END).waiting_on == {"a@2"}
    harness.settle("a")
    harness.deliver()
    assert harness.job_state() is JobState.COMPLETED
    assert harness.runs() == {"a": 2, "b": 1}


def test_a_new_input_and_new_limits_go_to_the_named_task(failed: ChangedHarness) -> None:
    changes = {"model": "claude-opus", "max_turns": 40, "timeout": 60_000, "max_cost_usd": 2.5}
    failed.redrive("b", input={"for": "${tasks.a.output.of}"}, **changes)
    failed.deliver()
    assert failed.memory.payloads.read(failed.job.task("b")).input == {
        "for": "${tasks.a.output.of}"
    }
    asked = Overrides(model="claude-opus", max_turns=40, timeout_ms=60_000, max_cost_usd=2.5)
    assert failed.task("b").overrides == asked
    assert failed.task("c").overrides == Overrides()
    failed.settle("b", FAILED)
    failed.deliver()
    failed.redrive(max_turns=60)
    failed.deliver()
    assert failed.task("b").overrides == replace(asked, max_turns=60)


@pytest.mark.parametrize(
    ("tasks", "given", "path", "words"),
    [
        ((), 1, ("input",), "exactly one"),
        (("b", "c"), 1, ("input",), "exactly one"),
        (("b",), "${tasks.c.output}", ("input",), "does not depend"),
        (("b",), {"x": ["${tasks.nobody.output}"]}, ("input", "x", 0), "does not exist"),
        (("b",), "x" * 5_000_000, ("input",), "at most 5,000,000"),
    ],
    ids=["nobody's", "two tasks'", "no ancestor", "unknown", "large"],
)
def test_a_bad_input_is_refused_with_its_place(
    failed: ChangedHarness, tasks: tuple[str, ...], given: object, path: object, words: str
) -> None:
    with pytest.raises(Invalid, match=words) as refused:
        failed.redrive(*tasks, input=given)
    assert refused.value.problems[0].path == path
    assert failed.job_state() is JobState.FAILED


def test_what_completed_is_not_redriven(failed: ChangedHarness) -> None:
    with pytest.raises(Conflict, match=r"not a \(completed\)"):
        failed.redrive("a", "b")


def test_what_does_not_exist_is_not_redriven(failed: ChangedHarness) -> None:
    with pytest.raises(UnknownJob):
        failed.redrives.request_redrive(JobRef(TENANT, failed.job.job_id[:-1] + "9"), RedriveJob())
    for name in ("nobody", END):
        with pytest.raises(UnknownTask):
            failed.redrive(name)


def test_a_job_in_which_nothing_failed_is_not_redriven(harness: ChangedHarness) -> None:
    harness.start({"a": []})
    harness.settle("a")
    harness.deliver()
    with pytest.raises(Conflict, match="nothing to redrive"):
        harness.redrive()


def test_a_job_that_goes_on_is_not_redriven(harness: ChangedHarness) -> None:
    harness.start(DIAMOND)
    harness.settle("scrape-store", FAILED)
    with pytest.raises(Conflict, match="has not settled yet"):
        harness.redrive()


def test_a_job_of_which_something_is_due_is_not_redriven_yet(failed: ChangedHarness) -> None:
    skipped = failed.task("c")
    failed.memory.state.tasks[skipped.ref] = replace(skipped, due_at_ms=1)
    with pytest.raises(NotNow, match="still emitting its events; try again in a minute"):
        failed.redrive()


def test_a_job_is_redriven_by_one_request_at_a_time_and_each_request_wakes_it(
    failed: ChangedHarness,
) -> None:
    failed.redrive()
    failed.memory.dispatches.refs.clear()
    with pytest.raises(Conflict, match="redriven already"):
        failed.redrive()
    failed.deliver()
    assert failed.job_state() is JobState.OPEN
