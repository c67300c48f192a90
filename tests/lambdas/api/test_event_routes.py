"""The log as API Gateway's callers see it."""

import json
from functools import cache
from typing import Any

import pytest

from switchyard.adapters import aws
from switchyard.adapters.dynamodb.event_log import DynamoDbEventLog
from switchyard.adapters.dynamodb.table import DynamoDbTable
from switchyard.contracts.events import (
    CATALOGUE,
    Context,
    Event,
    JobCreated,
    MemoryUsage,
    Properties,
    TaskCompleted,
    TaskHeartbeat,
    TaskPending,
    UsageFigures,
)
from tests.builders import JOB_ID, NOW_MS
from tests.lambdas.api.test_api import Api, a_body

pytestmark = pytest.mark.usefixtures("cloud")

REQUEST_ID = f"{JOB_ID}__a"
OTHER_JOB = JOB_ID.removesuffix("1") + "2"
APP = "task-workflow"


@pytest.fixture
def api() -> Api:
    return Api()


def keep(properties: Properties, at_ms: int, *, tenant: str = "acme", app: str = APP) -> None:
    event = Event.of(
        properties,
        tenant=tenant,
        app=app,
        timestamp_ms=NOW_MS + at_ms,
        context=Context(environment="test", origin="worker"),
    )
    _log().append(event.detail() | {"receivedAt": NOW_MS + at_ms + 5, "ttl": 1, "mood": ["new"]})


@cache  # a client takes longer to make than a test to run
def _log() -> DynamoDbEventLog:
    return DynamoDbEventLog(DynamoDbTable(aws.client("dynamodb"), "events-test"))


def of(task_id: str, job_id: str = JOB_ID) -> dict[str, Any]:
    return {"request_id": f"{job_id}__{task_id}", "job_id": job_id, "run": 1, "fence": 2}


def pending(task_id: str, job_id: str = JOB_ID) -> TaskPending:
    return TaskPending(**of(task_id, job_id), name="scrape")


def completed(task_id: str) -> TaskCompleted:
    usage = UsageFigures(cost_usd=0.5)
    return TaskCompleted(**of(task_id), output={"x": 1.0}, duration_ms=1, exit_code=0, usage=usage)


def heartbeat(task_id: str) -> TaskHeartbeat:
    return TaskHeartbeat(
        **of(task_id),
        effective_until=1,
        heartbeat_number=1,
        elapsed_ms=1,
        worker_id="w",
        process_id=1,
        memory_usage=MemoryUsage(rss=1),
    )


def created(job_id: str = JOB_ID) -> JobCreated:
    return JobCreated(job_id=job_id, request_id=job_id, run=1, tasks=(), total_tasks=2)


@pytest.fixture
def a_log(cloud: dict[str, str]) -> None:
    keep(created(), 0)
    keep(pending("b"), 1)
    keep(pending("a"), 2)
    keep(heartbeat("a"), 3)
    keep(completed("b"), 4)
    keep(completed("a"), 5)
    keep(created(OTHER_JOB), 6)
    keep(pending("a", OTHER_JOB), 7, app="shop")
    for tenant in ("acm", "acme2"):
        keep(created(), 0, tenant=tenant)
        keep(pending("a"), 2, tenant=tenant)


def times(answer: tuple[int, Any]) -> list[int]:
    status, page = answer
    assert status == 200, page
    return [event["timestampMs"] - NOW_MS for event in page["events"]]


@pytest.mark.usefixtures("a_log")
def test_a_jobs_events_are_its_own_and_its_tasks_in_order(api: Api) -> None:
    status, page = api("GET", f"/jobs/{JOB_ID}/events")
    assert times((status, page)) == [0, 1, 2, 4, 5]
    assert page["cursor"] is None
    assert times(api("GET", f"/jobs/{JOB_ID}/events", query="order=newest&limit=2")) == [5, 4]
    assert times(api("GET", f"/jobs/{JOB_ID}/events", query="type=task-pending")) == [1, 2]


@pytest.mark.usefixtures("a_log")
def test_an_event_is_shown_whole_and_without_the_tables_keys(api: Api) -> None:
    _, page = api("GET", f"/jobs/{JOB_ID}/events", query="type=Task Completed&order=newest")
    event = page["events"][0]
    assert event.pop("eventId")
    assert event == {
        "eventType": "Task Completed",
        "entityId": REQUEST_ID,
        "entityType": "TASK",
        "tenantId": "acme",
        "timestamp": "2027-01-15T08:00:00.005000Z",
        "timestampMs": NOW_MS + 5,
        "schemaVersion": 1,
        "receivedAt": NOW_MS + 10,
        "mood": ["new"],
        "context": {"source": "system", "environment": "test", "origin": "worker"},
        "properties": {
            "run": 1,
            "fence": 2,
            "jobId": JOB_ID,
            "requestId": REQUEST_ID,
            "output": {"x": 1.0},
            "durationMs": 1,
            "exitCode": 0,
            "usage": {"inputTokens": 0, "outputTokens": 0, "cacheReadTokens": 0, "costUsd": 0.5},
        },
    }


@pytest.mark.usefixtures("a_log")
@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("", [0, 1, 2, 3, 4, 5, 6, 7]),
        (f"entity={JOB_ID}", [0]),
        (f"entity={REQUEST_ID}", [2, 3, 5]),
        ("type=Task Pending", [1, 2, 7]),
        ("type=task_pending", [1, 2, 7]),
        (f"app={APP}", [0, 1, 2, 4, 5, 6]),
        ("app=shop", [7]),
        (f"type=task-pending&entity={REQUEST_ID}", [2]),
        (f"type=task-pending&app={APP}", [1, 2]),
        (f"type=task-pending&app=shop&entity={OTHER_JOB}__a", [7]),
        (f"type=task-heartbeat&entity={REQUEST_ID}", [3]),
        ("since=2027-01-15T08:00:00.004Z", [4, 5, 6, 7]),
        ("until=2027-01-15T08:00:00.004Z", [0, 1, 2, 3]),
        ("since=2027-01-15T09:00:00.004%2B01:00&until=2027-01-15T08:00:00.006Z", [4, 5]),
        (f"entity={REQUEST_ID}&since=2027-01-15T08:00:00.003Z", [3, 5]),
        ("type=task-pending&order=newest&limit=1", [7]),
        ("type=job-failed", []),
        ("entity=a-bare-request", []),
    ],
)
def test_events_are_found_by_what_is_known_of_them(api: Api, query: str, found: list[int]) -> None:
    assert times(api("GET", "/events", query=query.replace("%2B", "+"))) == found


@pytest.mark.usefixtures("a_log")
@pytest.mark.parametrize("path", ["/events", f"/jobs/{JOB_ID}/events"])
def test_pages_follow_each_other(api: Api, path: str) -> None:
    whole = times(api("GET", path))
    status, page = api("GET", path, query="limit=3")
    assert times((status, page)) == whole[:3]
    rest = f"limit=100&cursor={page['cursor']}"
    assert times(api("GET", path, query=rest)) == whole[3:]
    status, problem = api("GET", path, query=rest, tenant="acme2")
    assert (status, "cursor" in problem["detail"]) == (400, True)


@pytest.mark.usefixtures("a_log")
def test_another_tenant_sees_none_of_it(api: Api) -> None:
    for query in (f"entity={REQUEST_ID}", "type=task-pending", f"app={APP}", ""):
        assert times(api("GET", "/events", query=query, tenant="nobody")) == []
    assert api("GET", f"/jobs/{JOB_ID}/events", tenant="nobody")[0] == 404


@pytest.mark.parametrize(
    ("query", "parameter", "words"),
    [
        ("entity=a b", "entity", "neither a job's id"),
        ("type=Task Dreamt", "type", ", ".join(CATALOGUE)),
        (f"app={APP}&entity={JOB_ID}", "app", "only if type is given"),
        ("app=a#b", "app", "not the name of an app"),
        ("type=task-heartbeat", "type", "add its entity"),
        ("since=yesterday", "since", "15m, 2h or 1d"),
        ("since=2027-01-15T08:00:00", "since", "which zone"),
        ("since=1h&until=2h", "until", "not after since"),
        ("limit=0", "limit", "greater than or equal to 1"),
        ("limit=1001", "limit", "less than or equal to 1000"),
        ("order=sideways", "order", "'oldest' or 'newest'"),
        ("typ=task-pending", "typ", "not a field that is known here"),
    ],
)
def test_a_bad_parameter_is_named_with_the_remedy(
    api: Api, query: str, parameter: str, words: str
) -> None:
    status, problem = api("GET", "/events", query=query)
    assert status == 400
    (entry,) = problem["problems"]
    assert entry["path"] == parameter
    assert words in entry["message"]


def test_every_bad_parameter_is_named_at_once(api: Api) -> None:
    status, problem = api("GET", "/events", query="entity=?&type=?&since=?&until=?&app=#")
    assert status == 400
    assert {p["path"] for p in problem["problems"]} == {"entity", "type", "since", "until", "app"}


def test_a_jobs_heartbeats_are_not_promised(api: Api) -> None:
    status, problem = api("GET", f"/jobs/{JOB_ID}/events", query="type=task-heartbeat")
    assert (status, problem["problems"][0]["path"]) == (400, "type")
    assert api("GET", f"/jobs/{JOB_ID}/events", query=f"entity={JOB_ID}")[0] == 400


def test_a_job_without_events_yet_has_none_and_an_unknown_one_is_not_found(
    api: Api,
) -> None:
    definition = {"description": "d", "tag": "t"}
    assert api("PUT", "/task-definitions/scrape", definition)[0] == 200
    _, accepted = api("POST", "/jobs", a_body())
    assert times(api("GET", f"/jobs/{accepted['jobId']}/events")) == []
    for job_id in (JOB_ID, "nonsense"):
        assert api("GET", f"/jobs/{job_id}/events")[0] == 404


def test_an_answer_fits_through_lambda(api: Api) -> None:
    for number in range(20):
        said = completed(f"t{number}").model_copy(update={"output": '"' * 150_000})
        keep(said, number)
    _, page = api("GET", "/events", query="limit=1000")
    assert 1 < len(page["events"]) < 20
    assert page["cursor"]
    assert len(json.dumps(json.dumps(page))) < 6_000_000
