"""The authorizer as API Gateway calls it."""

from collections.abc import Callable
from typing import Any

import pytest

from switchyard.adapters import aws
from switchyard.adapters.dynamodb.access.api_keys import DynamoDbApiKeys
from switchyard.adapters.dynamodb.table import DynamoDbTable
from switchyard.adapters.system import SystemClock, SystemIds
from switchyard.domain.moments import day_of
from switchyard.usecases.access.api_keys import KeyRing, id_of_key
from tests.lambdas.conftest import FakeContext, load_handler

pytestmark = pytest.mark.usefixtures("cloud")

Ask = Callable[[str | None], dict[str, Any]]


@pytest.fixture
def ask() -> Ask:
    handler = load_handler("authorize").handler

    def ask(presented: str | None) -> dict[str, Any]:
        headers = {} if presented is None else {"x-api-key": presented}
        event = {"version": "2.0", "headers": headers, "requestContext": {"requestId": "r"}}
        answer: dict[str, Any] = handler(event, FakeContext())
        return answer

    return ask


def a_ring() -> KeyRing:
    keys = DynamoDbApiKeys(DynamoDbTable(aws.client("dynamodb"), "api-keys-test"))
    return KeyRing(keys=keys, ids=SystemIds(), clock=SystemClock())


def test_a_key_opens_its_tenant_and_nothing_else_does(ask: Ask) -> None:
    ring = a_ring()
    key = ring.issue("acme")
    (stored,) = ring.all("acme")

    context = {"tenant": "acme", "keyId": stored.key_id}
    assert ask(key) == {"isAuthorized": True, "context": context}
    for wrong in (None, "", "x", key[:-1], key.replace("acme", "other"), key + "x", "k" * 5000):
        assert ask(wrong)["isAuthorized"] is False


def test_a_revoked_key_opens_nothing(ask: Ask) -> None:
    ring = a_ring()
    key = ring.issue("acme")
    assert ask(key)["isAuthorized"] is True
    (stored,) = ring.all("acme")
    ring.revoke("acme", stored.key_id)
    assert ask(key)["isAuthorized"] is False


def test_the_day_of_its_last_use_is_noted(ask: Ask) -> None:
    ring, earliest = a_ring(), day_of(SystemClock().now_ms())
    ask(ring.issue("acme"))
    (stored,) = ring.all("acme")
    assert stored.last_used_on in {earliest, day_of(SystemClock().now_ms())}


def test_a_refused_key_is_logged_by_its_id_and_not_by_itself(
    ask: Ask, caplog: pytest.LogCaptureFixture
) -> None:
    key = a_ring().issue("acme")
    assert ask(key)["isAuthorized"] is True
    assert ask(f"{key}x")["isAuthorized"] is False

    (refused,) = [vars(r) for r in caplog.records if r.getMessage() == "key is refused"]
    assert refused["key_id"] == id_of_key(f"{key}x")
    assert key not in str(refused)
