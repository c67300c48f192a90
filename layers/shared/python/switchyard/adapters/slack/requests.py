"""Requests that Slack sends to us, and whether they are Slack's: it signs each of them."""

import base64
import binascii
import hashlib
import hmac
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Self

MAX_AGE_SECONDS: Final = 5 * 60
_VERSION: Final = "v0"
_SECONDS: Final = re.compile(r"[0-9]{1,12}")


@dataclass(frozen=True, slots=True)
class SlackRequest:
    timestamp: str
    signature: str
    body: bytes

    @classmethod
    def of(cls, event: Mapping[str, Any]) -> Self:
        """Read an event of API Gateway, which may pass the form on in base64."""
        headers = {name.lower(): value for name, value in event.get("headers", {}).items()}
        return cls(
            timestamp=headers.get("x-slack-request-timestamp", ""),
            signature=headers.get("x-slack-signature", ""),
            body=_body(event),
        )

    def problem(self, secret: str, *, now_ms: int) -> str | None:
        """Say why the request is not believed to be Slack's, or return `None` if it is."""
        return problem_with_signature(
            secret,
            timestamp=self.timestamp,
            signature=self.signature,
            body=self.body,
            now_ms=now_ms,
        )


def problem_with_signature(
    secret: str, *, timestamp: str, signature: str, body: bytes, now_ms: int
) -> str | None:
    if not secret:
        return "there is no secret to check the signature with"
    if not _SECONDS.fullmatch(timestamp):
        return "the request does not say when it was sent"
    if abs(now_ms / 1000 - int(timestamp)) > MAX_AGE_SECONDS:
        return "the request was sent too long ago, or in the future"
    expected = signature_of(secret, timestamp=timestamp, body=body)
    if not hmac.compare_digest(expected.encode(), signature.encode()):
        return "the signature is not Slack's"
    return None


def signature_of(secret: str, *, timestamp: str, body: bytes) -> str:
    signed = b":".join((_VERSION.encode(), timestamp.encode(), body))
    return f"{_VERSION}={hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()}"


def name_of_signature(signature: str) -> str:
    """A name by which a repeated request is recognized; the signature itself is not stored."""
    return f"slack-{hashlib.sha256(signature.encode()).hexdigest()}"


def _body(event: Mapping[str, Any]) -> bytes:
    body = str(event.get("body") or "").encode()
    if not event.get("isBase64Encoded"):
        return body
    try:
        return base64.b64decode(body, validate=True)
    except binascii.Error:
        return b""  # Slack cannot have signed it
