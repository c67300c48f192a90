"""Redriving a settled job, on in-memory twins."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from switchyard.contracts.changes import RedriveJob
from switchyard.domain.errors import Conflict, Invalid, NotNow, UnknownJob, UnknownTask
from switchyard.domain.ids import END, JobRef
from switchyard.domain.states import JobState, Rule, TaskState
from switchyard.domain.tasks.task import Overrides
from switchyard.usecases.jobs.redrive import AT_A_TIME
from tests.builders import DIAMOND, TENANT
from tests.fakes.changed_yard import ChangedYard
from tests.fakes.narrow_relays import narrow_relays
from tests.fakes.yard import FAILED

CHAIN: dict[str, list[str]] = {"a": [], "b": ["a"], "c": ["b"]}


@pytest.fixture
def yard() -> ChangedYard:
    return ChangedYard()


@pytest.fixture
def narrow() -> Iterator[None]:
    with narrow_relays(3):
        yield


@pytest.fixture
def failed(yard: ChangedYard) -> ChangedYard:
    """`b` failed in the middle, so that `c` was skipped."""
    yard.start(CHAIN)
    yard.settle("a")
    yard.settle("b", FAILED)
    yard.deliver()
    assert yard.job_state() is JobState.FAILED
    return yard


def test_the_failed_task_runs_again_with_what_follows_it_and_nothing_else(
    failed: ChangedYard,
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


def test_what_was_reopened_is_told(failed: ChangedYard) -> None:
    failed.redrive()
    failed.deliver()
    told = [e for e in failed.memory.bus.events if e.event_type == "Task Redriven"]
    said = {e.entity_id.rpartition("__")[2]: e.detail()["properties"] for e in told}
    assert said.keys() == {"b", "c"}
    assert (said["b"]["run"], said["b"]["jobRun"], said["b"]["previousStatus"]) == (2, 2, "failed")
    assert said["c"]["previousStatus"] == "skipped"
    assert said["b"]["fence"] == failed.task("b").fence - 1  # it was queued since
    pending = [e for e in failed.memory.bus.events if e.event_type == "Task Pending"]
    assert pending[-1].timestamp == failed.task("b").ready_at_ms


def test_the_job_begins_another_run_with_nothing_of_the_last(failed: ChangedYard) -> None:
    failed.redrive()
    assert failed.job_state() is JobState.REDRIVING
    failed.deliver()
    job = failed.the_job()
    assert (job.state, job.run, job.redrive_key) == (JobState.OPEN, 2, None)
    assert (job.settled_at_ms, job.failed_task_id, job.failure_detected_at_ms) == (None, None, None)


def test_a_job_that_fails_again_is_told_again(failed: ChangedYard) -> None:
    failed.redrive()
    failed.deliver()
    failed.settle("b", FAILED)
    failed.deliver()
    assert failed.job_state() is JobState.FAILED
    told = failed.told()
    assert (told["Job Failure Detected"], told["Job Failed"]) == (2, 2)


def test_without_names_all_that_failed_or_was_cancelled_is_redriven(yard: ChangedYard) -> None:
    yard.start({"ok": [], "bad": [], "gone": [], "cleanup": ["ok"]}, cleanup=Rule.ANY_FAILED)
    yard.settle("ok")
    yard.settle("bad", FAILED)
    yard.cancels.cancel_task(yard.job.task("gone"))
    yard.deliver()
    yard.redrive()
    yard.deliver()
    assert yard.runs() == {"ok": 1, "bad": 2, "gone": 2, "cleanup": 1}
    assert yard.states()["cleanup"] is TaskState.SKIPPED


def test_a_skipped_task_runs_when_it_is_named_though_its_parent_failed(failed: ChangedYard) -> None:
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


def test_a_parent_that_is_not_redriven_still_counts(yard: ChangedYard) -> None:
    yard.start({"a": [], "b": [], "c": ["a", "b"]})
    yard.settle("a", FAILED)
    yard.settle("b", FAILED)
    yard.deliver()
    yard.redrive("a")
    yard.deliver()
    assert yard.task("c").not_completed == {"b"}
    yard.settle("a")
    yard.deliver()
    assert yard.states()["c"] is TaskState.SKIPPED
    assert yard.job_state() is JobState.FAILED


def test_the_end_waits_for_a_task_whose_dependents_completed(yard: ChangedYard) -> None:
    yard.start({"a": [], "b": ["a"]}, b=Rule.ALL_SETTLED)
    yard.settle("a", FAILED)
    yard.settle("b")
    yard.deliver()
    yard.redrive()
    yard.deliver()
    assert yard.task(END).waiting_on == {"a@2"}
    yard.settle("a")
    yard.deliver()
    assert yard.job_state() is JobState.COMPLETED
    assert yard.runs() == {"a": 2, "b": 1}


@pytest.mark.usefixtures("narrow")
def test_relays_stand_for_more_than_the_end_may_name(yard: ChangedYard) -> None:
    edges: dict[str, list[str]] = {f"a{n}": [] for n in range(8)}
    rules = {f"b{n}": Rule.ALL_SETTLED for n in range(8)}
    yard.start(edges | {f"b{n}": [f"a{n}"] for n in range(8)}, **rules)
    for name in edges:
        yard.settle(name, FAILED)
    for name in rules:
        yard.settle(name)
    yard.deliver()
    for run in (2, 3):
        yard.redrive()
        yard.deliver()
        assert len(yard.task(END).waiting_on) <= 3
        for name in edges:
            assert yard.job_state() is JobState.OPEN
            yard.settle(name, FAILED)
        yard.deliver()
        assert yard.job_state() is JobState.FAILED
        assert {yard.runs()[name] for name in edges} == {run}


def test_a_new_input_and_new_limits_go_to_the_named_task(failed: ChangedYard) -> None:
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
    failed: ChangedYard, tasks: tuple[str, ...], given: object, path: object, words: str
) -> None:
    with pytest.raises(Invalid, match=words) as refused:
        failed.redrive(*tasks, input=given)
    assert refused.value.problems[0].path == path
    assert failed.job_state() is JobState.FAILED


def test_what_completed_is_not_redriven(failed: ChangedYard) -> None:
    with pytest.raises(Conflict, match=r"not a \(completed\)"):
        failed.redrive("a", "b")


def test_what_does_not_exist_is_not_redriven(failed: ChangedYard) -> None:
    with pytest.raises(UnknownJob):
        failed.redrives.request_redrive(JobRef(TENANT, failed.job.job_id[:-1] + "9"), RedriveJob())
    for name in ("nobody", END):
        with pytest.raises(UnknownTask):
            failed.redrive(name)


def test_a_job_in_which_nothing_failed_is_not_redriven(yard: ChangedYard) -> None:
    yard.start({"a": []})
    yard.settle("a")
    yard.deliver()
    with pytest.raises(Conflict, match="nothing to redrive"):
        yard.redrive()


def test_a_job_that_goes_on_is_not_redriven(yard: ChangedYard) -> None:
    yard.start(DIAMOND)
    yard.settle("scrape-store", FAILED)
    with pytest.raises(Conflict, match="has not settled yet"):
        yard.redrive()


def test_a_job_of_which_something_is_due_is_not_redriven_yet(failed: ChangedYard) -> None:
    skipped = failed.task("c")
    failed.memory.state.tasks[skipped.ref] = replace(skipped, due_at_ms=1)
    with pytest.raises(NotNow, match="still being told; try again in a minute"):
        failed.redrive()


def test_a_job_is_redriven_by_one_at_a_time_and_whoever_asks_wakes_it(failed: ChangedYard) -> None:
    failed.redrive()
    failed.memory.dispatches.refs.clear()
    with pytest.raises(Conflict, match="redriven already"):
        failed.redrive()
    failed.deliver()
    assert failed.job_state() is JobState.OPEN


def written_without_time(yard: ChangedYard) -> list[int]:
    """How much was done whenever time was over, until all of it was."""
    written: list[int] = []
    while not yard.redriver.go_on(yard.the_job(), until=yard.clock.monotonic()):
        assert yard.the_job().written > max(written, default=0), "it does not go on"
        written.append(yard.the_job().written)
    return written


def test_when_time_is_over_it_goes_on_where_it_stopped(yard: ChangedYard) -> None:
    many = AT_A_TIME + 10
    edges: dict[str, list[str]] = {f"a{n}": [] for n in range(many)}
    yard.start(edges | {f"b{n}": [f"a{n}"] for n in range(many)})
    for name in edges:
        yard.settle(name, FAILED)
    yard.deliver()
    yard.redrive()
    assert len(written_without_time(yard)) == 2  # twice time was over with some of them left
    told = [e.event_id for e in yard.memory.bus.events if e.event_type == "Task Redriven"]
    assert len(told) == len(set(told)) == 2 * many
    assert set(yard.runs().values()) == {2}


def test_when_time_is_over_before_all_edges_are_written_the_others_are_written_later(
    yard: ChangedYard,
) -> None:
    many = AT_A_TIME + 10
    edges: dict[str, list[str]] = {f"a{n}": [] for n in range(many)}
    after = {f"b{n}": [f"a{n}"] for n in range(many)}
    yard.start(edges | after, **dict.fromkeys(after, Rule.ALL_SETTLED))
    for name in edges:
        yard.settle(name, FAILED)
    for name in after:
        yard.settle(name)
    yard.deliver()
    yard.redrive()
    written = written_without_time(yard)
    relays = len(yard.task(END).waiting_on)
    assert written == [relays + AT_A_TIME, relays + many + 1 + AT_A_TIME]
    assert {yard.runs()[name] for name in edges} == {2}
