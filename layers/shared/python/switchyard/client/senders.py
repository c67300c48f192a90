"""Choose how an API is asked: by httpx, or on this machine by the standard library.

Importing httpx is a fifth of what a short command does, and an API on this machine needs none of
what it brings: TLS, proxies, connections that stay open.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, Protocol
from urllib.parse import urlsplit

if TYPE_CHECKING:
    import httpx

    from switchyard.client.answers import Answer

LOOPBACK: Final = {"127.0.0.1", "::1", "localhost"}
TIMEOUT_SECONDS: Final = 30
CONNECT_SECONDS: Final = 5
KEY_HEADER: Final = "x-api-key"


class Sender(Protocol):
    """Sends requests to one API, with one key."""

    def send(
        self,
        method: str,
        path: str,
        *,
        params: Mapping[str, Any] | None = None,
        json: Any = None,
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        """Return the answer, whatever its status. Raise `Unreachable` if there is none."""

    def close(self) -> None: ...


def sender_for(url: str, key: str, transport: httpx.BaseTransport | None = None) -> Sender:
    """Return the sender for an address. Raise `NotConnected` if it is none.

    A `transport` replaces the network in tests.
    """
    if transport is None and _is_plain_and_here(url):
        from switchyard.client.loopback_sender import LoopbackSender

        return LoopbackSender(url, key)
    from switchyard.client.httpx_sender import HttpxSender

    return HttpxSender(url, key, transport)


def _is_plain_and_here(url: str) -> bool:
    try:
        address = urlsplit(url)
        _ = address.port  # raises if it is no number
    except ValueError:
        return False
    return address.scheme == "http" and address.hostname in LOOPBACK
