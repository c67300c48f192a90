"""The log and the state table, compared."""

from dataclasses import replace
from typing import Any

import pytest

from switchyard.contracts.events import (
    OVERFLOW,
    JobCancelled,
    JobCompleted,
    StoredEvent,
)
from switchyard.domain.events.verification import (
    MISSING,
    NOT_EMITTED,
    Difference,
    JobRecord,
    compare,
)
from tests.builders import JOB_ID
from tests.fakes.events.log_entries import (
    job_fold,
    stored,
)
from tests.fakes.events.logged_job import (
    LIFE,
    OUTPUT,
    TABLE,
    A,
    B,
    C,
    differences,
    with_task,
    without,
)


def test_log_and_table_of_one_job_agree() -> None:
    assert differences(stored(*LIFE)) == set()
    assert differences(stored(*LIFE[::-1], *LIFE)) == set()


@pytest.mark.parametrize(
    ("event_type", "entity", "shown"),
    [
        ("Job Created", "", {("job.creation", NOT_EMITTED, "failed")}),
        ("Job Failed", "", {("job.status", "partial_failure", "failed")}),
        ("Job Failure Detected", "", {("job.failedTaskId", "None", "b")}),
        ("Task Pending", "__a", {("tasks.a.pending", NOT_EMITTED, "attempt 2")}),
        ("Task Completed", "__a", {("tasks.a.status", "processing", "completed")}),
        ("Task Failed", "__b", {("tasks.b.status", "processing", "failed")}),
        ("Task Skipped", "__c", {("tasks.c.status", "waiting", "skipped")}),
    ],
)
def test_an_event_that_must_not_be_lost_is_missed(
    event_type: str, entity: str, shown: set[tuple[str, str, str]]
) -> None:
    assert differences(without(event_type, entity)) == shown


@pytest.mark.parametrize(
    "event_type", ["Task Heartbeat", "Task Processing Started", "Task Processing Failed"]
)
def test_an_event_that_may_be_lost_is_not_missed(event_type: str) -> None:
    assert differences(without(event_type)) == set()


def test_a_job_that_the_log_does_not_know() -> None:
    assert differences([]) == {("job", NOT_EMITTED, "failed")}


def test_the_tasks_of_a_job_without_events_are_each_missed() -> None:
    end = JobCompleted(job_id=JOB_ID, run=1, total_tasks=3, task_statuses={})
    assert differences(stored((end, 1))) == {
        ("job.creation", NOT_EMITTED, "failed"),
        ("job.status", "completed", "failed"),
        ("job.failedTaskId", "None", "b"),
        ("tasks.a", NOT_EMITTED, "completed"),
        ("tasks.b", NOT_EMITTED, "failed"),
        ("tasks.c", NOT_EMITTED, "skipped"),
    }


@pytest.mark.parametrize(
    ("table", "shown"),
    [
        (with_task(status="failed"), {("tasks.a.status", "completed", "failed")}),
        (
            with_task(status="failed", outcome={"error": "no"}),
            {("tasks.a.status", "completed", "failed")},
        ),
        (with_task(run=2), {("tasks.a.run", "1", "2")}),
        (with_task(attempt=3), {("tasks.a.attempt", "2", "3")}),
        (replace(TABLE, status="completed"), {("job.status", "failed", "completed")}),
        (replace(TABLE, run=2), {("job.run", "1", "2")}),
        (replace(TABLE, total_tasks=4), {("job.totalTasks", "3", "4")}),
        (replace(TABLE, failed_task_id="a"), {("job.failedTaskId", "b", "a")}),
        (replace(TABLE, failed_task_id=None), {("job.failedTaskId", "b", "None")}),
        (
            replace(TABLE, tasks={**TABLE.tasks, "x": C}),
            {("tasks.x", NOT_EMITTED, "skipped")},
        ),
        (
            replace(TABLE, tasks={"a": A, "b": B}),
            {("tasks.c", "skipped", MISSING)},
        ),
        (
            replace(TABLE, tasks={**TABLE.tasks, "b": replace(B, outcome={"error": "yes"})}),
            {("tasks.b.error", "no", "yes")},
        ),
        (
            with_task(outcome={"output": OUTPUT, "costUsd": 0.5}),
            {("tasks.a.costUsd", "0.25", "0.5")},
        ),
    ],
)
def test_a_wrong_state_shows(table: JobRecord, shown: set[tuple[str, str, str]]) -> None:
    assert differences(stored(*LIFE), table) == shown


@pytest.mark.parametrize(
    ("output", "shown"),
    [
        (OUTPUT | {"score": 1}, set()),
        (dict(reversed(OUTPUT.items())), set()),
        (OUTPUT | {"title": "shop"}, {("tasks.a.output.title", "Shop", "shop")}),
        (OUTPUT | {"tags": ["a", {"b": 1}]}, {("tasks.a.output.tags.1.b", "True", "1")}),
        (OUTPUT | {"tags": ["a"]}, {("tasks.a.output.tags", str(OUTPUT["tags"]), "['a']")}),
        (OUTPUT | {"more": 0}, {("tasks.a.output.more", MISSING, "0")}),
        ({**OUTPUT, "none": False}, {("tasks.a.output.none", "None", "False")}),
        (None, {("tasks.a.output", str(OUTPUT), "None")}),
    ],
)
def test_outputs_are_compared_by_value(output: Any, shown: set[tuple[str, str, str]]) -> None:
    table = with_task(outcome={"output": output, "costUsd": 0.25})
    assert differences(stored(*LIFE), table) == shown


def test_a_field_that_is_null_is_not_a_field_that_is_missing() -> None:
    table = with_task(
        outcome={"output": {n: v for n, v in OUTPUT.items() if n != "none"}, "costUsd": 0.25}
    )
    assert differences(stored(*LIFE), table) == {("tasks.a.output.none", "None", MISSING)}


def test_what_stayed_in_the_bucket_is_not_compared() -> None:
    address = {OVERFLOW: {"bucket": "b", "key": "k"}}
    events = [
        event.model_copy(
            update={
                "properties": {n: v for n, v in (event.properties or {}).items() if n != gone}
                | address
            }
        )
        for event in stored(*LIFE)
        for gone in ["output" if event.event_type == "Task Completed" else "tasks"]
        if event.event_type in {"Task Completed", "Job Created"}
    ]
    rest = [e for e in stored(*LIFE) if e.event_type not in {"Task Completed", "Job Created"}]
    assert differences([*events, *rest]) == set()
    assert differences([*events, *rest], with_task(attempt=1)) == {("tasks.a.attempt", "2", "1")}


def delayed(events: list[StoredEvent], table: JobRecord) -> dict[str, bool]:
    found: tuple[Difference, ...] = compare(job_fold(events), table, in_flight=True)
    return {one.path: one.may_be_delay for one in found}


def test_what_moves_may_be_delay_and_what_has_ended_may_not() -> None:
    running = replace(TABLE, status="processing", failed_task_id=None)
    assert delayed(without("Task Completed", "__a"), TABLE) == {"tasks.a.status": True}
    assert delayed(stored(*LIFE), with_task(attempt=3)) == {"tasks.a.attempt": False}
    assert delayed(stored(*LIFE), replace(TABLE, total_tasks=4)) == {"job.totalTasks": False}
    assert delayed(stored(*LIFE), running) == {"job.status": True, "job.failedTaskId": True}
    more = replace(running, tasks={**TABLE.tasks, "x": C})
    assert delayed(stored(*LIFE[:-1]), more)["tasks.x"] is True
    fewer = replace(running, tasks={"a": A, "b": B})
    assert delayed(stored(*LIFE[:-1]), fewer)["tasks.c"] is False
    assert delayed([], TABLE) == {"job": True}
    assert delayed(stored(*LIFE), with_task(run=2)) == {"tasks.a.run": True}


def test_another_end_of_the_job_is_seen() -> None:
    end = JobCancelled(job_id=JOB_ID, run=1, total_tasks=3, task_statuses={})
    events = stored(*LIFE[:-1], (end, 10))
    assert differences(events) == {("job.status", "cancelled", "failed")}
