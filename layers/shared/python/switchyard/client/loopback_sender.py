"""Ask an API on this machine with the standard library alone."""

from __future__ import annotations

import json as json_module
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from http.client import HTTPConnection, HTTPException, IncompleteRead
from typing import Any, Final
from urllib.parse import quote, urlencode, urlsplit

from switchyard.client.answers import (
    Answer,
    cut_off,
    not_connected,
    not_listening,
    strange_answer,
    too_late,
)
from switchyard.client.senders import CONNECT_SECONDS, KEY_HEADER, TIMEOUT_SECONDS

AS_WRITTEN: Final = "/%:@!$&'()*+,;=~"
"""Characters of a path that are sent as they are."""


class LoopbackSender:
    """Implements `Sender`. Each request has a connection of its own, which costs nothing here."""

    def __init__(self, url: str, key: str) -> None:
        address = urlsplit(url)
        self._url = url
        self._host, self._port = address.hostname or "", address.port
        self._folder = address.path.rstrip("/")
        self._key = key
        self._answered = False

    def send(
        self,
        method: str,
        path: str,
        *,
        params: Mapping[str, Any] | None = None,
        json: Any = None,
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        connection = HTTPConnection(self._host, self._port, timeout=CONNECT_SECONDS)
        target = quote(self._folder + path, safe=AS_WRITTEN)
        if params:
            target += "?" + urlencode({name: _text(value) for name, value in params.items()})
        sent = {KEY_HEADER: self._key, **(headers or {})}
        body = None
        if json is not None:
            body = json_module.dumps(json, ensure_ascii=False, allow_nan=False).encode()
            sent["Content-Type"] = "application/json"
        with closing(connection):
            self._connect(connection)
            with self._translated():
                with suppress(BrokenPipeError, ConnectionResetError):  # it may answer all the same
                    connection.request(method, target, body, sent)
                response = connection.getresponse()
                content = response.read()
        self._answered = True
        received = {name.lower(): value for name, value in response.headers.items()}
        return Answer(response.status, response.reason, received, content)

    def close(self) -> None:
        """Do nothing: no connection stays open."""

    def _connect(self, connection: HTTPConnection) -> None:
        try:
            connection.connect()
        except TimeoutError as error:
            raise not_connected(error, self._url) from error
        except OSError as error:
            if not self._answered:
                raise not_listening(self._url) from None
            raise not_connected(error, self._url) from error
        connection.sock.settimeout(TIMEOUT_SECONDS)

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except TimeoutError as error:
            raise too_late(self._url) from error
        except (OSError, IncompleteRead) as error:
            raise cut_off(error, self._url) from error
        except HTTPException as error:
            raise strange_answer(self._url) from error


def _text(value: object) -> str:
    """Write a parameter as the API reads it."""
    return str(value).lower() if isinstance(value, bool) else str(value)
