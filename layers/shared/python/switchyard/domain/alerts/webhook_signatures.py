"""How a webhook's receiver can tell that a request is ours."""

import hashlib
import hmac
import uuid
from typing import Final

SIGNATURE_HEADER: Final = "Switchyard-Signature"
ID_HEADER: Final = "Switchyard-Id"
_NAMESPACE: Final = uuid.UUID("5d6b8a0e-3b0f-5c53-9a52-6a1f0b7c5f10")


def signature_header(secret: str, body: bytes, *, at_seconds: int) -> str:
    signed = f"{at_seconds}.".encode() + body
    digest = hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()
    return f"t={at_seconds},v1={digest}"


def secret_of_tenant(stage_secret: str, tenant: str) -> str:
    """Whoever knows one tenant's cannot sign for another."""
    return hmac.new(stage_secret.encode(), tenant.encode(), hashlib.sha256).hexdigest()


def delivery_id(subject: str, fingerprint: str) -> str:
    """The same for each try to tell the same: a receiver drops what it has seen."""
    return str(uuid.uuid5(_NAMESPACE, f"{subject}\n{fingerprint}"))
