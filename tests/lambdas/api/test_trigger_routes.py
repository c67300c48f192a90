"""Triggers of tenants, as API Gateway calls them, with their rules on EventBridge."""

import json
from typing import Any

import pytest

from switchyard.adapters import aws
from tests.builders import a_definition
from tests.lambdas.api.test_api import Api

pytestmark = pytest.mark.usefixtures("cloud")

NIGHTLY: dict[str, Any] = {
    "schedule": "cron(30 3 * * ? *)",
    "timeZone": "Europe/Berlin",
    "job": {"name": "night", "tasks": [{"taskId": "read", "name": "scrape"}]},
}


@pytest.fixture
def api() -> Api:
    api = Api()
    definition = a_definition().model_dump(mode="json", by_alias=True, exclude_none=True)
    assert api("PUT", "/task-definitions/scrape", definition)[0] == 200
    return api


def rules(bus: str = "default") -> list[Any]:
    found: list[Any] = aws.client("events").list_rules(EventBusName=bus)["Rules"]
    return found


def test_a_trigger_is_put_read_listed_and_deleted(api: Api) -> None:
    status, put = api("PUT", "/triggers/nightly", NIGHTLY)
    assert (status, put["enabled"], put["trigger"]["timeZone"]) == (200, True, "Europe/Berlin")
    (rule,) = rules()
    assert (rule["Name"], rule["State"]) == ("switchyard-test-acme.nightly", "ENABLED")
    assert rule["ScheduleExpression"] == "cron(30 * * * ? *)"
    assert api("GET", "/triggers/nightly")[1]["trigger"] == put["trigger"]
    assert [one["trigger"]["name"] for one in api("GET", "/triggers")[1]["triggers"]] == ["nightly"]
    assert api("DELETE", "/triggers/nightly")[0] == 200
    assert api("GET", "/triggers/nightly")[0] == 404
    assert rules() == []


def test_another_tenant_finds_nothing(api: Api) -> None:
    api("PUT", "/triggers/nightly", NIGHTLY)
    assert api("GET", "/triggers", tenant="other") == (200, {"triggers": []})
    for method, path in (
        ("GET", "/triggers/nightly"),
        ("DELETE", "/triggers/nightly"),
        ("POST", "/triggers/nightly/disable"),
        ("POST", "/triggers/nightly/fire"),
    ):
        assert api(method, path, {}, tenant="other")[0] == 404
    assert len(rules()) == 1


def test_it_is_disabled_and_enabled(api: Api) -> None:
    api("PUT", "/triggers/nightly", NIGHTLY)
    assert api("POST", "/triggers/nightly/disable")[1]["enabled"] is False
    assert rules()[0]["State"] == "DISABLED"
    assert api("POST", "/triggers/nightly/enable")[1]["enabled"] is True


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"timeZone": "Mars/Olympus"}, "is no time zone"),
        ({"schedule": "cron(0 0 30 2 ? *)"}, "never fires"),
        ({"job": {"tasks": [{"taskId": "a", "name": "nobody"}]}}, "is not a registered"),
        ({"job": NIGHTLY["job"] | {"name": "{{shedule.time}}"}}, "did you mean 'schedule'?"),
        ({"surprise": 1}, "not a field"),
    ],
)
def test_what_is_wrong_is_refused(api: Api, changes: dict[str, Any], words: str) -> None:
    status, problem = api("PUT", "/triggers/nightly", NIGHTLY | changes)
    assert status == 400
    assert words in problem["detail"]
    assert rules() == []


def test_a_fired_trigger_gets_a_message(api: Api) -> None:
    api("PUT", "/triggers/nightly", NIGHTLY)
    status, fired = api("POST", "/triggers/nightly/fire", {})
    assert (status, fired["trigger"]) == (202, "nightly")
    sqs = aws.client("sqs")
    url = sqs.get_queue_url(QueueName="trigger-queue")["QueueUrl"]
    (message,) = sqs.receive_message(QueueUrl=url)["Messages"]
    body = json.loads(message["Body"])
    assert (body["tenantId"], body["byHand"]) == ("acme", True)
    assert body["event"]["id"] == fired["eventId"]
