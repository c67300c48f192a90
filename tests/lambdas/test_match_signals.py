"""The function that ends signals by events, as the event source mapping of its queue calls it."""

import json
from typing import Any

import pytest

from switchyard.adapters import aws
from switchyard.adapters.dynamodb.signal_subscriptions import DynamoDbSignalSubscriptions
from switchyard.adapters.dynamodb.table import DynamoDbTable
from switchyard.domain.ids import JobRef
from switchyard.domain.signals.subscriptions import EventFilter, Subscription
from tests.builders import JOB_ID, NOW_MS, TENANT
from tests.fakes.harnesses.signalled_harness import PAID, SOURCE, an_event
from tests.lambdas.conftest import FakeContext, load_handler
from tests.lambdas.test_start_triggered import a_batch


@pytest.fixture(autouse=True)
def subscriptions(
    cloud: dict[str, str], monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> DynamoDbSignalSubscriptions:
    monkeypatch.setenv("POWERTOOLS_SERVICE_NAME", request.node.name)
    monkeypatch.setenv("SIGNAL_QUEUE_URL", "https://sqs.eu-west-1.amazonaws.com/1/signal-queue")
    assert cloud
    return DynamoDbSignalSubscriptions(DynamoDbTable(aws.client("dynamodb"), "state-test"))


def lines(printed: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in printed.splitlines()]


def test_an_event_that_nobody_waits_for_is_handled_and_counted(
    capsys: pytest.CaptureFixture[str],
) -> None:
    handler = load_handler("match_signals").handler
    answer = handler(a_batch(json.dumps(an_event())), FakeContext())
    assert answer == {"batchItemFailures": []}
    (counted,) = [line for line in lines(capsys.readouterr().out) if "SignalsByEvents" in line]
    assert counted["SignalsByEvents"] == [0]


def test_a_subscription_without_a_task_is_removed(
    subscriptions: DynamoDbSignalSubscriptions,
) -> None:
    left = Subscription(
        ref=JobRef(TENANT, JOB_ID).task("paid"),
        run=1,
        filter=EventFilter(sources=(SOURCE,), detail_types=(PAID,)),
        since_ms=NOW_MS,
        until_ms=NOW_MS + 1000,
    )
    subscriptions.put(left)
    handler = load_handler("match_signals").handler
    assert handler(a_batch(json.dumps(an_event())), FakeContext()) == {"batchItemFailures": []}
    assert subscriptions.page(TENANT, SOURCE, PAID, at_most=9) == []


def test_what_is_no_event_comes_back_and_the_others_are_handled() -> None:
    handler = load_handler("match_signals").handler
    answer = handler(a_batch("poison", json.dumps(an_event())), FakeContext())
    assert answer == {"batchItemFailures": [{"itemIdentifier": "m0"}]}
