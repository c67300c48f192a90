"""The authorizer as API Gateway calls it."""

import pytest

from switchyard.bootstrap import new_api_key
from tests.lambdas.conftest import FakeContext, load_handler


@pytest.mark.usefixtures("cloud")
def test_a_key_opens_its_tenant_and_nothing_else_does() -> None:
    handler = load_handler("authorize").handler
    key = new_api_key("acme", state_table_name="state-test")

    def ask(presented: str | None) -> dict[str, object]:
        headers = {} if presented is None else {"x-api-key": presented}
        event = {"version": "2.0", "headers": headers, "requestContext": {"requestId": "r"}}
        answer: dict[str, object] = handler(event, FakeContext())
        return answer

    assert ask(key) == {"isAuthorized": True, "context": {"tenant": "acme"}}
    for wrong in (None, "", "x", key[:-1], key.replace("acme", "other"), key + "x", "k" * 5000):
        assert ask(wrong)["isAuthorized"] is False
