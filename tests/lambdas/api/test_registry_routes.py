"""Definitions one by one, filtered jobs and the API's health, as API Gateway calls them."""

from typing import Any

import pytest

from switchyard import VERSION
from switchyard.adapters import aws
from switchyard.adapters.dynamodb.definition_store import DynamoDbDefinitionStore
from tests.builders import a_definition, a_submission
from tests.lambdas.api.test_api import Api

pytestmark = pytest.mark.usefixtures("cloud")


@pytest.fixture
def api() -> Api:
    api = Api()
    assert put(api)[0] == 200
    return api


def put(api: Api, **facts: Any) -> tuple[int, Any]:
    definition = a_definition(**facts).model_dump(mode="json", by_alias=True, exclude_none=True)
    return api("PUT", "/task-definitions/scrape", definition)


def submit(api: Api, **facts: Any) -> str:
    body = a_submission({"only": []}, **facts).model_dump(mode="json", by_alias=True)
    status, accepted = api("POST", "/jobs", body)
    assert status == 201
    job_id: str = accepted["jobId"]
    return job_id


def test_the_latest_version_and_every_other_can_be_read(api: Api) -> None:
    put(api, max_turns=3)
    status, latest = api("GET", "/task-definitions/scrape")
    assert (status, latest["version"], latest["maxTurns"]) == (200, 2, 3)
    status, first = api("GET", "/task-definitions/scrape/versions/1")
    assert (status, first["version"], first["maxTurns"]) == (200, 1, 10)
    assert first["retry"] == {"maxAttempts": 3}


@pytest.mark.parametrize(
    "path",
    ["nobody", "bad%20name", "scrape/versions/2", "scrape/versions/0", f"scrape/versions/{10**30}"],
)
def test_what_is_not_registered_is_not_found(api: Api, path: str) -> None:
    status, problem = api("GET", f"/task-definitions/{path}")
    assert (status, problem["status"]) == (404, 404)


def test_a_version_is_a_number(api: Api) -> None:
    assert api("GET", "/task-definitions/scrape/versions/latest")[0] == 400


def test_another_tenant_neither_reads_nor_deletes(api: Api) -> None:
    assert api("GET", "/task-definitions/scrape", tenant="other")[0] == 404
    assert api("GET", "/task-definitions/scrape/versions/1", tenant="other")[0] == 404
    assert api("DELETE", "/task-definitions/scrape", tenant="other")[0] == 404
    assert api("GET", "/task-definitions/scrape")[0] == 200


def test_a_deleted_definition_is_gone_and_its_versions_are_not(api: Api) -> None:
    assert api("DELETE", "/task-definitions/scrape") == (
        200,
        {"name": "scrape", "lastVersion": 1},
    )
    assert api("GET", "/task-definitions/scrape")[0] == 404
    assert api("GET", "/task-definitions")[1]["definitions"] == []
    assert api("DELETE", "/task-definitions/scrape")[0] == 404
    assert api("GET", "/task-definitions/scrape/versions/1")[0] == 200
    body = a_submission({"only": []}).model_dump(mode="json", by_alias=True)
    status, problem = api("POST", "/jobs", body)
    assert (status, problem["problems"][0]["path"]) == (400, "tasks.0.name")
    assert put(api)[1]["version"] == 2


def test_one_of_two_registrations_at_the_same_time_has_to_be_repeated(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = DynamoDbDefinitionStore._write

    def just_after_another(store: DynamoDbDefinitionStore, tenant: str, mine: Any) -> None:
        monkeypatch.setattr(DynamoDbDefinitionStore, "_write", write)
        store.put(tenant, mine.name, a_definition(max_turns=5))
        write(store, tenant, mine)

    monkeypatch.setattr(DynamoDbDefinitionStore, "_write", just_after_another)
    assert (put(api, max_turns=3)[0], api.headers["Retry-After"]) == (409, "5")
    assert [put(api, max_turns=3)[1]["version"] for _ in range(2)] == [3, 3]


def test_a_definition_in_use_is_not_deleted_and_its_users_are_named(api: Api) -> None:
    job_id = submit(api)
    status, problem = api("DELETE", "/task-definitions/scrape")
    assert (status, job_id in problem["detail"]) == (409, True)
    assert api("GET", "/task-definitions/scrape")[0] == 200


def test_how_often_a_task_is_tried_is_the_definitions_say(api: Api) -> None:
    assert put(api, retry={"max_attempts": 1})[0] == 200
    status, task = api("GET", f"/jobs/{submit(api)}/tasks/only")
    assert (status, task["maxAttempts"]) == (200, 1)


@pytest.mark.parametrize("attempts", [0, 4, "many"])
def test_a_task_is_tried_once_to_three_times(api: Api, attempts: Any) -> None:
    body = {"description": "d", "tag": "t", "retry": {"maxAttempts": attempts}}
    status, problem = api("PUT", "/task-definitions/x", body)
    assert (status, problem["problems"][0]["path"]) == (400, "retry.maxAttempts")


def test_jobs_are_found_by_status_and_tag(api: Api) -> None:
    web, ops = submit(api, tags={"team": "web"}), submit(api, tags={"team": "ops"})

    def found(query: str) -> list[str]:
        status, page = api("GET", "/jobs", query=query)
        assert status == 200
        return [job["jobId"] for job in page["jobs"]]

    assert set(found("")) == {web, ops}
    assert found("tag=team:web") == [web]
    assert found("tag=team:ops&status=processing") == [ops]
    assert found("status=completed") == []


@pytest.mark.parametrize(
    ("query", "path"), [("status=retrying", "status"), ("tag=web", "tag"), ("tag=:", "tag")]
)
def test_a_filter_that_means_nothing_is_refused(api: Api, query: str, path: str) -> None:
    status, problem = api("GET", "/jobs", query=query)
    assert (status, problem["problems"][0]["path"]) == (400, path)


def test_tasks_have_their_last_event(api: Api) -> None:
    _, view = api("GET", f"/jobs/{submit(api, tags={'a': 'b'})}")
    (task,) = view["tasks"]
    assert task["status"] == "waiting"
    assert not task.keys() & {"lastEventType", "lastEventAt"}
    assert view["tags"] == {"a": "b"}


def test_the_api_says_that_it_is_well(api: Api) -> None:
    well = {"status": "ok", "stage": "test", "version": VERSION, "paused": False}
    assert api("GET", "/health") == (200, well)


def test_without_its_table_the_api_is_not_well(api: Api) -> None:
    aws.client("dynamodb").delete_table(TableName="state-test")
    assert api("GET", "/health")[0] == 503


def test_definitions_are_listed_from_a_cursor_on(api: Api) -> None:
    definition = a_definition().model_dump(mode="json", by_alias=True, exclude_none=True)
    assert api("PUT", "/task-definitions/write", definition)[0] == 200
    status, page = api("GET", "/task-definitions", query="cursor=scrape")
    assert (status, [one["name"] for one in page["definitions"]]) == (200, ["write"])
    assert page["cursor"] is None
    assert api("GET", "/task-definitions", query="cursor=a/b")[0] == 400
