"""Whether a request is Slack's: it signs each with a secret that only the two of us know."""

import hashlib
import hmac
import re
from typing import Final

MAX_AGE_SECONDS: Final = 5 * 60
_VERSION: Final = "v0"
_SECONDS: Final = re.compile(r"[0-9]{1,12}")


def problem_with_signature(
    secret: str, *, timestamp: str, signature: str, body: bytes, now_ms: int
) -> str | None:
    if not secret:
        return "there is no secret to check it with"
    if not _SECONDS.fullmatch(timestamp):
        return "it does not say when it was sent"
    if abs(now_ms / 1000 - int(timestamp)) > MAX_AGE_SECONDS:
        return "it was sent too long ago, or is still to be sent"
    expected = signature_of(secret, timestamp=timestamp, body=body)
    if not hmac.compare_digest(expected.encode(), signature.encode()):
        return "the signature is not Slack's"
    return None


def signature_of(secret: str, *, timestamp: str, body: bytes) -> str:
    signed = b":".join((_VERSION.encode(), timestamp.encode(), body))
    return f"{_VERSION}={hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()}"


def name_of_signature(signature: str) -> str:
    """By which it is known if it comes a second time; the signature itself is kept nowhere."""
    return f"slack-{hashlib.sha256(signature.encode()).hexdigest()}"
