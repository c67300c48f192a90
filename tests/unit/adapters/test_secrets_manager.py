"""Secrets are read once in five minutes, missing ones more often."""

from typing import Any

import pytest
from botocore.exceptions import ClientError

from switchyard.adapters.secrets_manager import SecretsManagerSecrets
from switchyard.domain.errors import Unavailable
from switchyard.testing import ManualClock


class Vault:
    def __init__(self) -> None:
        self.secrets: dict[str, str] = {}
        self.error: str | None = None
        self.asked = 0

    def get_secret_value(self, *, SecretId: str) -> dict[str, Any]:  # noqa: N803
        self.asked += 1
        code = self.error or (None if SecretId in self.secrets else "ResourceNotFoundException")
        if code:
            raise ClientError({"Error": {"Code": code, "Message": code}}, "GetSecretValue")
        return {"SecretString": self.secrets[SecretId]}


def test_a_secret_is_read_anew_after_five_minutes_and_not_before() -> None:
    vault, clock = Vault(), ManualClock()
    secrets = SecretsManagerSecrets(vault, clock=clock)
    vault.secrets["a"] = "old"
    assert secrets.text("a") == "old"
    vault.secrets["a"] = "new"
    clock.advance(299)
    assert (secrets.text("a"), vault.asked) == ("old", 1)
    clock.advance(1)
    assert (secrets.text("a"), vault.asked) == ("new", 2)


def test_that_there_is_none_is_remembered_for_seconds_only() -> None:
    vault, clock = Vault(), ManualClock()
    secrets = SecretsManagerSecrets(vault, clock=clock)
    assert [secrets.text("a"), secrets.text("a")] == [None, None]
    assert vault.asked == 1
    vault.secrets["a"] = "created since"
    clock.advance(5)
    assert secrets.text("a") == "created since"


@pytest.mark.parametrize("error", ["InternalServiceError", "AccessDeniedException"])
def test_a_store_that_does_not_answer_is_asked_again(error: str) -> None:
    vault = Vault()
    secrets = SecretsManagerSecrets(vault, clock=ManualClock())
    vault.error = error
    with pytest.raises(Unavailable):
        secrets.text("a")
    vault.error, vault.secrets["a"] = None, "back"
    assert secrets.text("a") == "back"
