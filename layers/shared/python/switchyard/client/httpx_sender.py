"""Ask an API anywhere, with httpx."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import httpx

from switchyard.client.answers import (
    Answer,
    cut_off,
    gone,
    not_connected,
    not_listening,
    not_taken,
    too_late,
)
from switchyard.client.senders import CONNECT_SECONDS, KEY_HEADER, LOOPBACK, TIMEOUT_SECONDS


class HttpxSender:
    """Implements `Sender`."""

    def __init__(self, url: str, key: str, transport: httpx.BaseTransport | None = None) -> None:
        self._url = url
        self._answered = False
        with translated(url, nobody_yet=False):
            self._is_here = httpx.URL(url).host in LOOPBACK
            self._client = client_for(url, transport, base_url=url, headers={KEY_HEADER: key})

    def send(
        self,
        method: str,
        path: str,
        *,
        params: Mapping[str, Any] | None = None,
        json: Any = None,
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        with translated(self._url, nobody_yet=self._is_here and not self._answered):
            response = self._client.request(method, path, params=params, json=json, headers=headers)
        self._answered = True
        received = {name.lower(): value for name, value in response.headers.items()}
        return Answer(response.status_code, response.reason_phrase, received, response.content)

    def close(self) -> None:
        self._client.close()


def download(url: str, transport: httpx.BaseTransport | None) -> Iterator[bytes]:
    """Download a file in chunks. Raise `ClientError`, between two chunks too."""
    with (
        translated(url, nobody_yet=False),
        client_for(url, transport) as client,
        client.stream("GET", url) as response,
    ):
        if not response.is_success:
            raise gone(response.status_code)
        yield from response.iter_bytes()


def upload(
    url: str,
    headers: Mapping[str, str],
    content: Iterator[bytes],
    transport: httpx.BaseTransport | None,
) -> None:
    """Send a content in chunks; its length is one of the headers. Raise `ClientError`."""
    with translated(url, nobody_yet=False), client_for(url, transport) as client:
        response = client.put(url, content=content, headers=dict(headers))
        if not response.is_success:
            raise not_taken(response.status_code)


def client_for(url: str, transport: httpx.BaseTransport | None, **options: Any) -> httpx.Client:
    address = httpx.URL(url)
    return httpx.Client(
        timeout=httpx.Timeout(TIMEOUT_SECONDS, connect=CONNECT_SECONDS),
        transport=transport,
        # A proxy for the internet cannot reach a cloud on this machine.
        trust_env=address.host not in LOOPBACK,
        verify=address.scheme != "http",  # without TLS, no certificates have to be loaded
        **options,
    )


@contextmanager
def translated(url: str, *, nobody_yet: bool) -> Iterator[None]:
    """Raise httpx's errors as those of the client.

    `nobody_yet` says that the address is on this machine and has not answered before.
    """
    try:
        yield
    except (httpx.ConnectError, httpx.ConnectTimeout, httpx.InvalidURL) as error:
        if nobody_yet and isinstance(error, httpx.ConnectError) and "SSL" not in str(error):
            raise not_listening(url) from None
        raise not_connected(error, url) from error
    except httpx.TimeoutException as error:
        raise too_late(url) from error
    except httpx.TransportError as error:
        raise cut_off(error, url) from error
