"""The local stage's webhooks secret is created once, with a value of its own."""

import json
from collections.abc import Mapping
from typing import Any

import pytest

from stacks.constructs.notifications import webhooks_secret
from stacks.stage import LOCAL
from switchyard_local.deployment.webhooks_secret import NAME, ensure_webhooks_secret
from switchyard_local.emulator.gateway import Gateway, Reply
from switchyard_local.errors import CloudError


class FakeGateway(Gateway):
    def __init__(self, reply: Reply | None) -> None:
        super().__init__(1)
        self.reply = reply
        self.asked: list[tuple[str, Mapping[str, Any]]] = []

    def try_call(self, target: str, arguments: Mapping[str, Any]) -> Reply | None:
        self.asked.append((target, arguments))
        return self.reply


def test_it_is_created_with_a_random_value() -> None:
    gateway = FakeGateway(Reply(200, b"{}"))
    ensure_webhooks_secret(gateway)
    ensure_webhooks_secret(gateway)
    (target, first), (_, second) = gateway.asked
    assert (target, first["Name"]) == ("secretsmanager.CreateSecret", NAME)
    assert len(first["SecretString"]) == 64
    assert first["SecretString"] != second["SecretString"]


def test_the_function_reads_the_secret_of_that_name() -> None:
    assert webhooks_secret(LOCAL) == NAME


def test_one_that_is_there_stays() -> None:
    refused = json.dumps({"__type": "ResourceExistsException"}).encode()
    ensure_webhooks_secret(FakeGateway(Reply(400, refused)))


@pytest.mark.parametrize("reply", [None, Reply(500, b"")])
def test_a_cloud_that_cannot_create_it_says_so(reply: Reply | None) -> None:
    with pytest.raises(CloudError, match=NAME):
        ensure_webhooks_secret(FakeGateway(reply))
