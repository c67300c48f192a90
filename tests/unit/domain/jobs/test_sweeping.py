"""What is done about something overdue, in every state it can be in."""

from dataclasses import replace
from typing import Any

import pytest

from switchyard.domain.jobs.job import Job
from switchyard.domain.jobs.overdue import (
    MAX_DOUBLINGS,
    Action,
    Step,
    decide_job_step,
    decide_task_step,
    forgotten_parents,
)
from switchyard.domain.states import SETTLED, JobState, TaskState
from switchyard.domain.tasks import due
from switchyard.domain.tasks.task import Task
from tests.builders import JOB, NOW_MS, a_task

MINUTE = 60_000
HOUR = 60 * MINUTE


def step_for(**facts: Any) -> Step:
    task = a_task(**{"due_at_ms": NOW_MS} | facts)
    return decide_task_step(task, now_ms=NOW_MS)


def a_job(state: JobState, **facts: Any) -> Job:
    known: dict[str, Any] = {"total_tasks": 1, "created_at_ms": NOW_MS, "due_at_ms": NOW_MS}
    return Job(ref=JOB, name="brand", state=state, **known | facts)


LIVE = {"lease_until_ms": NOW_MS}
LAPSED = {"lease_until_ms": NOW_MS - 1}
FLAGGED = {"cancel_requested": True}
TASKS: list[tuple[TaskState, dict[str, Any], Action, int]] = [
    (TaskState.WAITING, {"waiting_on": frozenset({"a@1"})}, Action.WAIT, HOUR),
    (TaskState.WAITING, {}, Action.DECIDE, MINUTE),
    (TaskState.HELD, {"held_until_ms": NOW_MS + 7}, Action.WAIT, 7),
    (TaskState.HELD, {"held_until_ms": NOW_MS}, Action.END_HOLD, MINUTE),
    (TaskState.HELD, {"held_until_ms": NOW_MS, "resends": 2}, Action.END_HOLD, 4 * MINUTE),
    (TaskState.READY, {}, Action.START, MINUTE),
    (TaskState.QUEUED, {}, Action.RESEND, 10 * MINUTE),
    (TaskState.QUEUED, {"resends": 1}, Action.RESEND, 20 * MINUTE),
    (TaskState.QUEUED, {"resends": 2}, Action.RESEND, 40 * MINUTE),
    (TaskState.QUEUED, {"resends": 99}, Action.RESEND, (5 * MINUTE) << MAX_DOUBLINGS),
    (TaskState.QUEUED, {"not_before_ms": NOW_MS + 1}, Action.WAIT, 5 * MINUTE + 1),
    (TaskState.QUEUED, FLAGGED | {"not_before_ms": NOW_MS + 1}, Action.RESEND, 10 * MINUTE),
    (TaskState.PROCESSING, LIVE, Action.WAIT, due.AFTER_LEASE),
    (TaskState.PROCESSING, LAPSED, Action.WAKE, 5 * MINUTE),
    (TaskState.PROCESSING, LAPSED | {"resends": 1}, Action.WAKE, 10 * MINUTE),
    (TaskState.UNKNOWN, {}, Action.WAIT, 5 * MINUTE),
    *((state, {}, Action.DISPATCH, MINUTE) for state in sorted(SETTLED)),
    (TaskState.COMPLETED, {"resends": 3}, Action.DISPATCH, 8 * MINUTE),
]
LARGE = {"document_key": "task/documents/a.json"}
REDRIVEN = {"redrive_key": "task/redrives/a.json"}
JOBS: list[tuple[JobState, dict[str, Any], Action, int | None]] = [
    (JobState.WRITING, {}, Action.ABANDON, None),
    (JobState.WRITING, LARGE, Action.ADVANCE, 5 * MINUTE),
    (JobState.OPEN, {}, Action.AUDIT, HOUR),
    (JobState.OPEN, LARGE, Action.AUDIT, HOUR),
    (JobState.OPEN, REDRIVEN, Action.ADVANCE, 5 * MINUTE),
    (JobState.CANCELLING, {}, Action.ADVANCE, 5 * MINUTE),
    (JobState.REDRIVING, REDRIVEN, Action.ADVANCE, 5 * MINUTE),
    (JobState.UNKNOWN, {}, Action.WAIT, 5 * MINUTE),
    (JobState.UNKNOWN, REDRIVEN, Action.WAIT, 5 * MINUTE),
    (JobState.COMPLETED, {}, Action.LEAVE, None),
    (JobState.COMPLETED, REDRIVEN, Action.ADVANCE, 5 * MINUTE),
    (JobState.FAILED, {}, Action.LEAVE, None),
    (JobState.CANCELLED, {}, Action.LEAVE, None),
]


def test_the_tables_name_every_state() -> None:
    assert {row[0] for row in TASKS} == set(TaskState)
    assert {row[0] for row in JOBS} == set(JobState)


@pytest.mark.parametrize(("state", "facts", "action", "later_ms"), TASKS)
def test_an_overdue_task(
    state: TaskState, facts: dict[str, Any], action: Action, later_ms: int
) -> None:
    step = step_for(state=state, **facts)
    assert (step.action, step.due_at_ms) == (action, NOW_MS + later_ms)
    assert step.reason


@pytest.mark.parametrize(("state", "facts", "action", "later_ms"), JOBS)
def test_an_overdue_job(
    state: JobState, facts: dict[str, Any], action: Action, later_ms: int | None
) -> None:
    step = decide_job_step(a_job(state, **facts), now_ms=NOW_MS)
    due_at_ms = None if later_ms is None else NOW_MS + later_ms
    assert (step.action, step.due_at_ms) == (action, due_at_ms)
    assert step.reason


@pytest.mark.parametrize("due_at_ms", [None, NOW_MS + 1])
def test_what_is_not_due_any_more_is_left_alone(due_at_ms: int | None) -> None:
    assert step_for(state=TaskState.READY, due_at_ms=due_at_ms).action is Action.LEAVE
    job = a_job(JobState.WRITING, due_at_ms=due_at_ms)
    assert decide_job_step(job, now_ms=NOW_MS).action is Action.LEAVE


def test_what_does_not_exist_is_left_alone() -> None:
    step = decide_task_step(None, now_ms=NOW_MS)
    assert step.action is Action.LEAVE
    assert decide_job_step(None, now_ms=NOW_MS).action is Action.LEAVE


def test_only_what_a_waiting_task_still_names_was_forgotten() -> None:
    done = a_task("done", state=TaskState.COMPLETED)
    due_itself = a_task("due", state=TaskState.FAILED, due_at_ms=NOW_MS)
    running = a_task("running", state=TaskState.PROCESSING)
    followed = a_task("followed", state=TaskState.COMPLETED)
    names = frozenset(task.token for task in (done, due_itself, running))
    child = a_task("child", state=TaskState.WAITING, waiting_on=names)
    tasks: list[Task] = [done, due_itself, running, followed, child]
    assert forgotten_parents(tasks) == (done.this_run,)
    redriven = replace(done, run=2)
    assert forgotten_parents([redriven, child]) == ()
