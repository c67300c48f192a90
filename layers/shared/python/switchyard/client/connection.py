"""One HTTP connection to one API: a request in, a model or an error out."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final, Literal, TypeVar

import httpx
from pydantic import BaseModel, ValidationError

from switchyard.client.answers import gone, no_answer, refusal, strange_answer

M = TypeVar("M", bound=BaseModel)

LOOPBACK: Final = {"127.0.0.1", "::1", "localhost"}
TIMEOUT: Final = httpx.Timeout(30, connect=5)


class Connection:
    def __init__(
        self,
        url: str,
        key: str,
        *,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        self._url = url
        self._transport = transport
        with self._translated():
            self._client = self._client_for(url, base_url=url, headers={"x-api-key": key})

    def close(self) -> None:
        self._client.close()

    def call(
        self,
        answer: type[M],
        method: str,
        path: str,
        *,
        extra: Literal["ignore", "allow"] = "ignore",
        **request: Any,
    ) -> M:
        """Raise `ClientError`."""
        with self._translated():
            response = self._client.request(method, path, **request)
        if not response.is_success:
            raise refusal(response)
        try:
            return answer.model_validate_json(response.content, extra=extra)
        except ValidationError as error:
            raise strange_answer(self._url) from error

    def download(self, url: str) -> Iterator[bytes]:
        """What is at another address, piece by piece: it is not told the key.

        Raise `ClientError`, between two pieces too.
        """
        with self._translated(), self._client_for(url) as client, client.stream("GET", url) as r:
            if not r.is_success:
                raise gone(r)
            yield from r.iter_bytes()

    def _client_for(self, url: str, **options: Any) -> httpx.Client:
        # A proxy for the internet cannot reach a cloud on this machine.
        elsewhere = httpx.URL(url).host not in LOOPBACK
        return httpx.Client(
            timeout=TIMEOUT, transport=self._transport, trust_env=elsewhere, **options
        )

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except (httpx.TransportError, httpx.InvalidURL) as error:
            raise no_answer(error, self._url) from error
