"""What the dispatch queue delivers is one of two kinds, or refused."""

import json
from typing import Any

import pytest

from switchyard.contracts.dispatch_messages import DispatchMessage, WakeUp, wake_up
from switchyard.contracts.events import Context, Event, JobCreated
from switchyard.domain.ids import START, JobRef, bare_task
from switchyard.domain.tasks.task import TaskRun
from tests.builders import JOB, JOB_ID, NOW_MS, TENANT


def an_event(**facts: Any) -> str:
    event = Event.of(
        JobCreated(job_id=JOB_ID, request_id=JOB_ID, run=1, tasks=(), total_tasks=5),
        tenant=TENANT,
        app="task-workflow",
        timestamp_ms=NOW_MS,
        context=Context(environment="test", origin="test"),
    )
    return json.dumps({"id": "e", "source": "x", "detail": event.detail() | facts})


def a_message(**facts: Any) -> str:
    return json.dumps({"schema": 1, "tenantId": TENANT, "jobId": JOB_ID} | facts)


def test_an_event_of_the_bus_names_the_task_that_settled() -> None:
    assert wake_up(an_event()) == WakeUp(TaskRun(JOB.task(START), 1), by_event=True)


@pytest.mark.parametrize(
    "ref",
    [
        JOB,
        TaskRun(JOB.task("a"), 3),
        TaskRun(JOB.task("__relay-7"), 1),
        TaskRun(bare_task(TENANT, "order-42"), 1),
    ],
)
def test_what_was_sent_directly_comes_back_as_it_was(ref: JobRef | TaskRun) -> None:
    body = DispatchMessage.to(ref).model_dump_json(by_alias=True, exclude_none=True)
    assert wake_up(body) == WakeUp(ref, by_event=False)


@pytest.mark.parametrize(
    "body",
    [
        "nonsense",
        "[]",
        "{}",
        an_event(tenantId="other"),
        an_event(entityId="job-1"),
        a_message(schema=0),
        a_message(tenantId="../x"),
        a_message(tenantId="acme\n"),
        a_message(jobId="job-1"),
        a_message(jobId="~order-42"),
        a_message(jobId="~order-42", taskId="a", run=1),
        a_message(jobId="~job-1", taskId="task", run=1),
        a_message(taskId="a b", run=1),
        a_message(taskId="", run=1),
        a_message(taskId="a"),
        a_message(taskId="a", run=0),
        a_message(run=1),
    ],
)
def test_what_is_tampered_with_wakes_nobody(body: str) -> None:
    with pytest.raises(ValueError, match=r"not |valid|match|required|permitted"):
        wake_up(body)
