"""Secrets that attackers must not obtain, and the encodings in which they are searched for."""

import base64
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Final

CREDENTIALS: Final[Mapping[str, str]] = {
    "AWS_ACCESS_KEY_ID": "AKIACANARY0WORKER0AA",
    "AWS_SECRET_ACCESS_KEY": "canary-aws-secret-Zk3vQ9pL2xW8",
    "AWS_SESSION_TOKEN": "canary-aws-session-Hd7TqB5nM1yR",
    "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI": "/v2/credentials/canary-4f1e9c7a-uri",
    "ANTHROPIC_API_KEY": "sk-ant-api03-canary-Jm5XwF2kT8sV",
    "SWITCHYARD_API_KEY": "swy.acme.canaryPq6RzN4cL9uE7hYt2bK5mGx0vDs",
}
"""In the environment of the worker, and the Claude key in its proxy too."""
TENANTS: Final = "canary-of-a-tenant-Wb8KyD3gS6oA"
"""In the victim's files, memory, environment and input."""


def encodings(secret: str) -> Iterator[bytes]:
    """Yield the secret as programs can write it cheaply."""
    plain = secret.encode()
    yield plain
    yield plain[::-1]
    yield plain.hex().encode()
    yield plain.hex().upper().encode()
    yield plain.hex().encode()[::-1]
    for shift in range(3):  # where it begins within a group of three bytes is not known
        whole = base64.b64encode(b"\0" * shift + plain)
        yield whole[4 if shift else 0 : len(whole) - 4]
        yield whole[4 if shift else 0 : len(whole) - 4].translate(bytes.maketrans(b"+/", b"-_"))


@cache
def _wanted() -> Mapping[str, frozenset[bytes]]:
    return {
        name: frozenset(encodings(secret))
        for name, secret in {**CREDENTIALS, "another tenant's data": TENANTS}.items()
    }


def found_in(data: bytes) -> set[str]:
    """Return the names of the secrets that the data contains in any of these encodings."""
    return {name for name, texts in _wanted().items() if any(text in data for text in texts)}
