"""An HTTP connection to one API: a request in, a model or an error out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from switchyard.client.answers import Answer, refusal, strange_answer
from switchyard.client.senders import sender_for

if TYPE_CHECKING:
    import httpx
    from pydantic import BaseModel

M = TypeVar("M", bound="BaseModel")


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
        self._sender = sender_for(url, key, transport)

    def close(self) -> None:
        self._sender.close()

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
        from pydantic import ValidationError

        content = _content(self._sender.send(method, path, **request))
        try:
            return answer.model_validate_json(content, extra=extra)
        except ValidationError as error:
            raise strange_answer(self._url) from error

    def text(self, path: str, params: Mapping[str, Any] | None = None) -> str:
        """Return an answer as it came, such as a page. Raise `ClientError`."""
        answer = self._sender.send("GET", path, params=params)
        return _content(answer).decode(errors="replace")

    def download(self, url: str) -> Iterator[bytes]:
        """Download from another address, in chunks, without sending the key.

        Raise `ClientError`, between two chunks too.
        """
        from switchyard.client.httpx_sender import download

        return download(url, self._transport)

    def upload(self, url: str, headers: Mapping[str, str], content: Iterator[bytes]) -> None:
        """Send a content to another address, in chunks, without sending the key.

        Raise `ClientError`.
        """
        from switchyard.client.httpx_sender import upload

        upload(url, headers, content, self._transport)


def _content(answer: Answer) -> bytes:
    if not answer.is_success:
        raise refusal(answer)
    return answer.content
