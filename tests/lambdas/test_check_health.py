"""The health check as a schedule calls it, and as a person asks about one task."""

import json
import logging
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from switchyard.adapters import aws
from switchyard.adapters.dynamodb.items import task_item
from switchyard.adapters.dynamodb.table import DynamoDbTable
from switchyard.adapters.eventbridge import EventBridgeBus
from switchyard.adapters.system import SystemClock
from switchyard.contracts.events import Event, TaskHealthCheck
from switchyard.domain.ids import JobRef, TaskRef
from switchyard.domain.states import TaskState
from switchyard.domain.tasks.task import Task
from tests.builders import TENANT, a_task
from tests.lambdas.conftest import FakeContext, load_handler

MINUTE = 60_000
TICK = json.loads((Path(__file__).parents[1] / "events" / "check_health.json").read_text())

Check = Callable[[dict[str, Any]], dict[str, Any]]


@pytest.fixture
def put(monkeypatch: pytest.MonkeyPatch) -> list[Event]:
    """The events that were put on the bus."""
    heard: list[Event] = []
    monkeypatch.setattr(EventBridgeBus, "put", lambda _, events: heard.extend(events))
    return heard


@pytest.fixture
def check(
    cloud: dict[str, str],
    put: list[Event],
    monkeypatch: pytest.MonkeyPatch,
) -> Check:
    monkeypatch.setenv("TENANT_ID", "default")
    handler = load_handler("check_health").handler
    return lambda event: handler(event, FakeContext())


def running(number: int, *, minutes: float) -> Task:
    started_at_ms = SystemClock().now_ms() - round(minutes * MINUTE)
    return a_task(
        ref=ref_of(number),
        state=TaskState.PROCESSING,
        owner=f"worker-{number}/1",
        started_at_ms=started_at_ms,
        lease_until_ms=started_at_ms + 45_000,
        due_at_ms=started_at_ms + 75_000,
    )


def ref_of(number: int) -> TaskRef:
    return JobRef(TENANT, f"job-00000000-0000-4000-8000-{number:012d}").task("a")


def store(tasks: Sequence[Task]) -> None:
    table = DynamoDbTable(aws.client("dynamodb"), "state-test")
    table.put_many([task_item(task) for task in tasks])


def asking(ref: TaskRef, **other: str) -> dict[str, str]:
    return {"requestId": ref.request_id, "tenantId": ref.tenant} | other


def test_sixty_running_tasks_are_counted_reported_and_listed_worst_first(
    check: Check, put: list[Event], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    ages = [11] * 31 + [6] * 6 + [1] * 23
    store([running(number, minutes=minutes) for number, minutes in enumerate(ages)])
    expected = {"healthy": 23, "warning": 6, "critical": 31, "overtime": 0, "notProgressing": 0}

    assert check(TICK) == expected | {"totalProcessing": 60}

    said = {event.tenant_id: event.properties for event in put}
    assert said.keys() == {TENANT, "default"}
    listed = TaskHealthCheck.model_validate(said[TENANT])
    assert [task.health for task in listed.tasks] == (
        ["critical"] * 31 + ["warning"] * 6 + ["healthy"] * 23
    )
    (logged,) = [vars(r) for r in caplog.records if r.message.startswith("tasks are checked")]
    assert logged["summary"]["critical"] == 31


def test_where_no_alert_can_be_posted_the_check_is_done_all_the_same(
    check: Check, put: list[Event], caplog: pytest.LogCaptureFixture
) -> None:
    store([running(1, minutes=11)])

    assert check(TICK)["critical"] == 1

    assert len(put) == 2
    (logged,) = [vars(r) for r in caplog.records if r.levelname == "WARNING"]
    assert logged["status"] == "not configured"


def test_one_task_is_reported_by_its_request_id(check: Check, put: list[Event]) -> None:
    store([running(1, minutes=6), running(2, minutes=1)])

    answer = check(asking(ref_of(1)))

    assert (answer["requestId"], answer["health"]) == (ref_of(1).request_id, "warning")
    assert (answer["reason"], answer["workerId"]) == ("no sign of life for 6 min", "worker-1")
    assert put == []


@pytest.mark.parametrize(
    "asked",
    [
        asking(ref_of(2)),
        asking(ref_of(1), tenantId="umbrella"),
        asking(ref_of(1), requestId="bare-and-unknown"),
        asking(ref_of(1), requestId="no id at all \x1b[2J"),
    ],
    ids=["another", "another tenant's", "bare", "nonsense"],
)
def test_a_task_that_is_not_there_is_not_found(check: Check, asked: dict[str, str]) -> None:
    store([running(1, minutes=6)])

    assert check(asked) == {"health": "not_found"}
