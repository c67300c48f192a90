"""The routes about work queues, on a table of moto."""

from typing import Any

import pytest

from tests.lambdas.api.test_api import Api

DEFINITION = {"description": "Build it.", "tag": "builder"}


@pytest.fixture
def api(cloud: Any) -> Api:
    return Api()


def test_a_queue_is_created_listed_shown_changed_and_deleted(api: Api) -> None:
    status, created = api(
        "POST", "/queues", {"name": "default/builds", "lease": "2m", "priority": "high"}
    )
    assert (status, created["version"], created["lease"]) == (201, 1, 120_000)
    _, listed = api("GET", "/queues")
    assert [queue["name"] for queue in listed["queues"]] == ["default", "default/builds"]
    status, shown = api("GET", "/queues/default/builds")
    assert (status, shown["depth"], shown["inFlight"], shown["atLeast"]) == (200, 0, 0, False)
    status, changed = api(
        "PATCH", "/queues/default/builds", {"lease": None, "maxAttempts": 2, "version": 1}
    )
    assert (status, changed["version"], changed.get("lease")) == (200, 2, None)
    assert api("DELETE", "/queues/default/builds") == (200, {"name": "default/builds"})
    assert api("GET", "/queues/default/builds")[0] == 404


def test_a_change_by_an_old_version_is_refused(api: Api) -> None:
    api("POST", "/queues", {"name": "default/a"})
    api("PATCH", "/queues/default/a", {"priority": "low"})
    status, refused = api("PATCH", "/queues/default/a", {"priority": "high", "version": 1})
    assert (status, "has version 2 by now" in refused["detail"]) == (409, True)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"name": "build/heavy"}, "name: the group 'build' is none of this stage"),
        ({"name": "Default"}, "name: must be group or group/name"),
        ({"name": "default/items"}, "name: 'items' is reserved"),
        ({"name": "default/a", "lease": "1s"}, "lease: must be a span from 10s to 15m"),
        ({"name": "default/a", "concurrency": {"limit": 0}}, "concurrency.limit: "),
        (
            {"name": "default/a", "concurrency": {"limit": 1, "key": "${item.x}"}},
            "concurrency.key: must be a constant, or refer to the input",
        ),
    ],
)
def test_what_is_wrong_is_named_with_its_field(api: Api, body: Any, said: str) -> None:
    status, refused = api("POST", "/queues", body)
    assert (status, said in refused["detail"]) == (400, True), refused["detail"]


def test_an_item_is_a_job_of_one_task_that_names_its_queue(api: Api) -> None:
    api("PUT", "/task-definitions/build", DEFINITION)
    api("POST", "/queues", {"name": "default/builds", "maxAttempts": 2, "priority": "low"})
    item = {"definition": "build", "input": {"repo": "x"}, "metadata": {"ticket": "42"}}
    headers = {"Idempotency-Key": "once"}
    status, put = api("POST", "/queues/default/builds/items", item, headers=headers)
    assert (status, put["queue"], put["repeated"]) == (201, "default/builds", False)
    _, again = api("POST", "/queues/default/builds/items", item, headers=headers)
    assert (again["jobId"], again["repeated"]) == (put["jobId"], True)
    _, task = api("GET", f"/jobs/{put['jobId']}/tasks/{put['taskId']}")
    assert (task["queue"], task["priority"], task["maxAttempts"]) == ("default/builds", "low", 2)
    assert (task["itemStatus"], task["metadata"]) == ("pending", {"ticket": "42"})
    assert task["createdAt"] == put["createdAt"]


def test_a_queue_that_a_definition_names_is_not_deleted(api: Api) -> None:
    api("POST", "/queues", {"name": "default/builds"})
    api("PUT", "/task-definitions/build", DEFINITION | {"queue": "default/builds"})
    status, refused = api("DELETE", "/queues/default/builds")
    assert (status, refused["detail"]) == (
        409,
        "the queue 'default/builds' is in use by the definition build",
    )


def test_an_unknown_queue_of_a_task_is_refused_with_a_suggestion(api: Api) -> None:
    api("PUT", "/task-definitions/build", DEFINITION)
    api("POST", "/queues", {"name": "default/builds"})
    task = {"taskId": "a", "name": "build", "queue": "default/build"}
    status, refused = api("POST", "/jobs", {"tasks": [task]})
    assert (status, refused["detail"]) == (
        400,
        "tasks.0.queue: there is no queue 'default/build'; did you mean 'default/builds'?",
    )


def test_tenants_do_not_see_each_others_queues(api: Api) -> None:
    api("POST", "/queues", {"name": "default/builds"})
    for method, path in (
        ("GET", "/queues/default/builds"),
        ("DELETE", "/queues/default/builds"),
        ("GET", "/queues/default/builds/dead-letters"),
    ):
        assert api(method, path, tenant="other")[0] == 404
    _, listed = api("GET", "/queues", tenant="other")
    assert [queue["name"] for queue in listed["queues"]] == ["default"]


def test_a_queue_without_failures_has_no_dead_letters(api: Api) -> None:
    status, page = api("GET", "/queues/default/dead-letters")
    assert (status, page["deadLetters"], page["cursor"]) == (200, [], None)


def test_the_default_queue_cannot_be_created_changed_or_deleted(api: Api) -> None:
    assert api("POST", "/queues", {"name": "default"})[0] == 409
    assert api("PATCH", "/queues/default", {"priority": "low"})[0] == 409
    assert api("DELETE", "/queues/default")[0] == 409
