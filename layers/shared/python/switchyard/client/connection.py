"""One HTTP connection to one API: a request in, a model or an error out.

httpx is imported with the first connection, so that a command can be described without it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, Literal, TypeVar

from pydantic import BaseModel, ValidationError

from switchyard.client.answers import gone, no_answer, not_listening, refusal, strange_answer

if TYPE_CHECKING:
    import httpx

M = TypeVar("M", bound=BaseModel)

LOOPBACK: Final = {"127.0.0.1", "::1", "localhost"}
TIMEOUT_SECONDS: Final = 30
CONNECT_SECONDS: Final = 5


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
        self._answered = False
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
        self._answered = True
        if not response.is_success:
            raise refusal(response)
        try:
            return answer.model_validate_json(response.content, extra=extra)
        except ValidationError as error:
            raise strange_answer(self._url) from error

    def text(self, path: str) -> str:
        """Return an answer that is no model, such as a page. Raise `ClientError`."""
        with self._translated():
            response = self._client.get(path)
        if not response.is_success:
            raise refusal(response)
        return response.text

    def download(self, url: str) -> Iterator[bytes]:
        """Download from another address, in chunks, without sending the key.

        Raise `ClientError`, between two pieces too.
        """
        with self._translated(), self._client_for(url) as client, client.stream("GET", url) as r:
            if not r.is_success:
                raise gone(r)
            yield from r.iter_bytes()

    def _client_for(self, url: str, **options: Any) -> httpx.Client:
        import httpx

        # A proxy for the internet cannot reach a cloud on this machine.
        address = httpx.URL(url)
        elsewhere = address.host not in LOOPBACK
        return httpx.Client(
            timeout=httpx.Timeout(TIMEOUT_SECONDS, connect=CONNECT_SECONDS),
            transport=self._transport,
            trust_env=elsewhere,
            verify=address.scheme != "http",  # without TLS, no certificates have to be loaded
            **options,
        )

    @contextmanager
    def _translated(self) -> Iterator[None]:
        import httpx

        try:
            yield
        except (httpx.TransportError, httpx.InvalidURL) as error:
            if isinstance(error, httpx.ConnectError) and not self._answered and self._is_local:
                raise not_listening(self._url) from None
            raise no_answer(error, self._url) from error

    @property
    def _is_local(self) -> bool:
        import httpx

        return httpx.URL(self._url).host in LOOPBACK
