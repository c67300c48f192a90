"""Secrets from AWS Secrets Manager, remembered for a while."""

from typing import Any, Final

from botocore.exceptions import ClientError

from switchyard.adapters.aws import call, code_of
from switchyard.domain.errors import Unavailable
from switchyard.ports import Clock

REMEMBERED_SECONDS: Final = 300.0
MISSING_SECONDS: Final = 5.0
"""The time for which a missing secret is remembered: what needs it is dropped until it is found."""
_MISSING: Final = "ResourceNotFoundException"


class SecretsManagerSecrets:
    def __init__(self, client: Any, *, clock: Clock) -> None:
        self._client = client
        self._clock = clock
        self._read: dict[str, tuple[float, str | None]] = {}

    def text(self, name: str) -> str | None:
        now = self._clock.monotonic()
        expires_at, text = self._read.get(name, (None, None))
        if expires_at is None or now >= expires_at:
            text = call(self._now, name)
            self._read[name] = (now + (REMEMBERED_SECONDS if text else MISSING_SECONDS), text)
        return text

    def _now(self, name: str) -> str | None:
        try:
            answer = self._client.get_secret_value(SecretId=name)
        except ClientError as error:
            if code_of(error) == _MISSING:
                return None
            # A missing permission is reported later: an operator has to grant it.
            raise Unavailable(str(error)) from error
        text: str | None = answer.get("SecretString")
        return text
