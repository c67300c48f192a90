"""One HTTP connection to one API: a request in, a model or an error out."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final, Literal, TypeVar

import httpx
from pydantic import BaseModel, ValidationError

from switchyard.client.answers import no_answer, refusal, strange_answer

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
        with self._translated():
            self._client = httpx.Client(
                base_url=url,
                headers={"x-api-key": key},
                timeout=TIMEOUT,
                transport=transport,
                # A proxy for the internet cannot reach a cloud on this machine.
                trust_env=httpx.URL(url).host not in LOOPBACK,
            )

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

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except (httpx.TransportError, httpx.InvalidURL) as error:
            raise no_answer(error, self._url) from error
