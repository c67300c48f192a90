"""The contract of `Redriving`, step by step."""

from dataclasses import replace
from typing import Any

import pytest

from switchyard.domain.ids import END, START
from switchyard.domain.jobs.job import Job
from switchyard.domain.jobs.redrive import NewEdges, RedrivePlan, Reopening
from switchyard.domain.states import JobState, Rule, TaskState
from switchyard.domain.tasks import due
from switchyard.domain.tasks.task import Outcome, Overrides, Payload, Task
from switchyard.ports import Claimed
from tests.builders import DIAMOND, JOB, NOW_MS, TRACEPARENT, a_plan
from tests.contract.conftest import Backend

KEY = "task/redrives/acme/job/1-abc.json"
RELAY = "__relay-r1-0"
CHILD = "compile-result"
FILES = ("job/brief", "draft/*.md")


@pytest.fixture
def settled(backend: Backend) -> Backend:
    """A job that failed, with one task that has all that a run can leave behind."""
    plan = a_plan()
    tasks = [_queued(task) if task.ref.task_id == CHILD else task for task in plan.tasks]
    job = replace(
        plan.job,
        state=JobState.FAILED,
        settled_at_ms=NOW_MS,
        failure_detected_at_ms=NOW_MS,
        failed_task_id=CHILD,
        cancel_requested=True,
        cancelled_by="ada",
        due_at_ms=None,
        written=9,
        file_count=1,
    )
    with_files = Payload(files=FILES, artifacts=("report.md",))
    payloads = {**plan.payloads, "scrape-store": with_files}
    written = replace(plan, job=job, tasks=tuple(tasks), payloads=payloads)
    backend.intake.write(written)
    backend.intake.write_part(written)
    _fail(backend)
    return backend


def _queued(task: Task) -> Task:
    return replace(
        task,
        state=TaskState.QUEUED,
        run=3,
        fence=6,
        attempt=2,
        not_before_ms=NOW_MS,
        ready_at_ms=NOW_MS,
        last_error="network",
        waiting_on=frozenset(),
        not_completed=frozenset({"color-tags", "font-pairing"}),
        overrides=Overrides(model="claude-haiku"),
        trace=TRACEPARENT,
    )


def _fail(backend: Backend) -> None:
    answer = backend.leases.claim(JOB.task(CHILD), owner="w1", now_ms=NOW_MS, lease_ms=1000)
    assert isinstance(answer, Claimed)
    assert backend.cancelling.cancel(answer.task, now_ms=NOW_MS)
    failed = Outcome(state=TaskState.FAILED, error="boom")
    backend.leases.settle(answer.lease, failed, output=None, now_ms=NOW_MS)
    backend.overdue.move_due(the_task(backend), NOW_MS + 1, count=True)
    backend.graph.clear_due(the_task(backend))


def the_job(backend: Backend) -> Job:
    job = backend.jobs.find(JOB)
    assert job is not None
    return job


def the_task(backend: Backend, task_id: str = CHILD) -> Task:
    task = backend.graph.find(JOB.task(task_id))
    assert task is not None
    return task


def reopening(**facts: Any) -> Reopening:
    known: dict[str, Any] = {"task_id": CHILD, "state": TaskState.FAILED, "run": 3, "fence": 7}
    return Reopening(**known | facts)


def begun(backend: Backend) -> Job:
    assert backend.redriving.begin(the_job(backend), key=KEY, now_ms=NOW_MS)
    return the_job(backend)


def test_edges_are_those_of_hidden_tasks_too(settled: Backend) -> None:
    edges = settled.redriving.edges(JOB)
    assert set(edges) == {START, *DIAMOND}
    assert set(edges[START]) == {"scrape-store", "analyze-competitors"}
    assert edges[CHILD] == (END,)


def test_a_settled_job_is_redriven_once(settled: Backend) -> None:
    before = the_job(settled)
    assert begun(settled) == replace(
        before,
        state=JobState.REDRIVING,
        redrive_key=KEY,
        written=0,
        due_at_ms=NOW_MS + due.JOB_BEING_CHANGED,
    )
    assert settled.redriving.begin(before, key=KEY, now_ms=NOW_MS + 9)
    assert not settled.redriving.begin(before, key="another", now_ms=NOW_MS)
    assert the_job(settled).redrive_key == KEY


@pytest.mark.parametrize("facts", [{"run": 2}, {"state": JobState.COMPLETED}], ids=str)
def test_a_job_that_is_not_as_read_is_not_redriven(settled: Backend, facts: Any) -> None:
    before = the_job(settled)
    assert not settled.redriving.begin(replace(before, **facts), key=KEY, now_ms=NOW_MS)
    assert the_job(settled) == before


def test_a_job_is_opened_in_its_next_run_with_nothing_of_the_last(settled: Backend) -> None:
    job = begun(settled)
    opened = settled.redriving.open(job, now_ms=NOW_MS + 7)
    assert opened == the_job(settled)
    assert opened == replace(
        job,
        state=JobState.OPEN,
        run=2,
        reopened_at_ms=NOW_MS + 7,
        settled_at_ms=None,
        failure_detected_at_ms=None,
        failed_task_id=None,
        cancel_requested=False,
        cancelled_by=None,
        due_at_ms=NOW_MS + 7 + due.JOB_BEING_CHANGED,
    )
    assert settled.redriving.open(job, now_ms=NOW_MS + 9) == opened
    settled.redriving.end(opened, now_ms=NOW_MS)
    assert settled.redriving.open(job, now_ms=NOW_MS + 9) is None
    assert the_job(settled).run == 2


def test_an_open_job_is_audited_once_its_redrive_is_over(settled: Backend) -> None:
    job = begun(settled)
    opened = settled.redriving.open(job, now_ms=NOW_MS)
    assert opened is not None
    assert not settled.redriving.end(job, now_ms=NOW_MS)
    assert the_job(settled) == opened
    assert settled.redriving.end(opened, now_ms=NOW_MS + 5)
    ended = replace(opened, redrive_key=None, due_at_ms=NOW_MS + 5 + due.JOB_AUDIT)
    assert the_job(settled) == ended
    assert not settled.redriving.end(opened, now_ms=NOW_MS + 9)
    assert the_job(settled) == ended


def test_a_job_that_settled_meanwhile_is_due_no_more(settled: Backend) -> None:
    opened = settled.redriving.open(begun(settled), now_ms=NOW_MS)
    assert opened is not None
    done = settled.jobs.settle(opened, JobState.COMPLETED, now_ms=NOW_MS + 5)
    assert settled.redriving.end(done, now_ms=NOW_MS + 7)
    assert the_job(settled) == replace(done, redrive_key=None)
    assert the_job(settled).due_at_ms is None


def test_progress_never_goes_back(settled: Backend) -> None:
    job = begun(settled)
    settled.redriving.note(job, written=200)
    settled.redriving.note(job, written=100)
    assert the_job(settled) == replace(job, written=200)
    settled.redriving.note(replace(job, redrive_key="another"), written=900)
    assert the_job(settled).written == 200


def test_a_task_that_waits_has_nothing_of_its_last_run(settled: Backend) -> None:
    before = the_task(settled)
    tokens = frozenset({"color-tags@2"})
    planned = reopening(waiting_on=tokens, not_completed=frozenset({"font-pairing"}))
    answer = settled.redriving.reopen(JOB, planned, now_ms=NOW_MS)
    assert answer == the_task(settled)
    assert answer == Task(
        ref=before.ref,
        state=TaskState.WAITING,
        definition=before.definition,
        definition_version=before.definition_version,
        rule=Rule.ALL_COMPLETED,
        run=4,
        fence=8,
        waiting_on=tokens,
        not_completed=frozenset({"font-pairing"}),
        trace=TRACEPARENT,
    )


def test_a_task_that_may_run_is_ready_and_due(settled: Backend) -> None:
    overrides = Overrides(model="claude-opus", max_turns=20, timeout_ms=9_000, max_cost_usd=1.5)
    planned = reopening(overrides=overrides)
    answer = settled.redriving.reopen(JOB, planned, now_ms=NOW_MS + 5)
    assert answer == the_task(settled)
    assert answer is not None
    assert (answer.state, answer.run, answer.fence) == (TaskState.READY, 4, 8)
    assert (answer.ready_at_ms, answer.due_at_ms) == (NOW_MS + 5, NOW_MS + 5 + due.AFTER_READY)
    assert (answer.attempt, answer.outcome, answer.owner) == (0, None, None)
    assert answer.overrides == overrides
    assert not answer.not_completed


def test_a_task_is_reopened_once_and_then_shown_as_it_is(settled: Backend) -> None:
    settled.redriving.reopen(JOB, reopening(), now_ms=NOW_MS)
    claimed = settled.leases.claim(JOB.task(CHILD), owner="w", now_ms=NOW_MS, lease_ms=1000)
    assert claimed is not None
    again = settled.redriving.reopen(JOB, reopening(), now_ms=NOW_MS + 9)
    assert again == the_task(settled) == claimed.task


@pytest.mark.parametrize(
    "facts", [{"run": 1}, {"run": 9}, {"fence": 6, "run": 3}, {"state": TaskState.SKIPPED}], ids=str
)
def test_a_task_that_is_not_as_planned_stays_as_it_is(settled: Backend, facts: Any) -> None:
    before = the_task(settled)
    given = Payload(input="new")
    answer = settled.redriving.reopen(JOB, reopening(**facts), given=given, now_ms=NOW_MS)
    assert answer is None
    assert the_task(settled) == before
    assert settled.payloads.read(before.ref).input is None


@pytest.mark.parametrize("value", [{"a": 1}, None, "x" * 9_000], ids=["small", "null", "large"])
def test_a_new_input_comes_with_the_new_run(settled: Backend, value: Any) -> None:
    old = reopening(task_id="scrape-store", state=TaskState.WAITING, run=1, fence=0)
    for number, given in enumerate(["y" * 9_000, value]):
        planned = replace(old, run=1 + number, fence=number)
        planned = planned if number == 0 else replace(planned, state=TaskState.READY)
        payload = Payload(input=given)
        task = settled.redriving.reopen(JOB, planned, given=payload, now_ms=NOW_MS)
        assert task is not None
        assert task == the_task(settled, "scrape-store")
        assert task.run == 2 + number
        stored = settled.payloads.read(JOB.task("scrape-store"))
        assert (stored.input, stored.depends_on) == (given, ())
        assert (stored.files, stored.artifacts) == (FILES, ("report.md",))
        assert the_job(settled).file_count == 1


def test_new_relays_and_edges_are_written_once(settled: Backend) -> None:
    plan = RedrivePlan(
        run=1,
        asked_at_ms=NOW_MS,
        waiting=(),
        ready=(),
        relays={RELAY: frozenset({"scrape-store@2", "color-tags@2"})},
        edges={
            RELAY: NewEdges(before=(), added=(END,)),
            "color-tags": NewEdges(before=(CHILD,), added=(RELAY,)),
        },
    )
    for name in plan.edges:
        settled.redriving.prepare(JOB, plan, name)
    relay = the_task(settled, RELAY)
    assert (relay.state, relay.run, relay.rule) == (TaskState.WAITING, 1, Rule.ALL_SETTLED)
    assert relay.waiting_on == {"scrape-store@2", "color-tags@2"}
    moved = settled.graph.remove_edges(relay.ref, {"scrape-store@2": True})
    more = {"color-tags": NewEdges(before=(CHILD, RELAY), added=("later",))}
    settled.redriving.prepare(JOB, replace(plan, relays={}, edges=more), "color-tags")
    for name in plan.edges:
        settled.redriving.prepare(JOB, plan, name)
    assert the_task(settled, RELAY) == moved
    edges = settled.redriving.edges(JOB)
    assert (edges[RELAY], edges["color-tags"]) == ((END,), (CHILD, RELAY, "later"))
