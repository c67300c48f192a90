"""The client of a stage's API, whose errors advise a user of the command line."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from switchyard.client.answers import strange_answer
from switchyard.client.connection import Connection, M
from switchyard.client.errors import KeyRefused, NotConnected
from switchyard.client.routes import Routes, given
from switchyard_cli.connections.endpoints import API_KEY, Endpoint
from switchyard_cli.connections.job_list import JobList, read_jobs, read_paused
from switchyard_cli.stages import Stage
from switchyard_local.errors import not_running

if TYPE_CHECKING:
    import httpx

R = TypeVar("R")


class Api(Routes):
    def __init__(self, endpoint: Endpoint, transport: httpx.BaseTransport | None = None) -> None:
        self.endpoint = endpoint
        super().__init__(Connection(endpoint.url, endpoint.key, transport=transport))

    def text(self, path: str, params: Mapping[str, Any] | None = None) -> str:
        """Return an answer as it came, such as a page."""
        with self._advised():
            return self._connection.text(path, params)

    def listed(
        self, *, limit: int, cursor: str | None, status: str | None, tag: str | None
    ) -> JobList:
        """Return what `jobs` returns, as much of it as a listing shows."""
        asked = {"limit": limit, "cursor": cursor, "status": status, "tag": tag}
        return self._read(read_jobs, "/jobs", given(asked))

    def is_paused(self) -> bool:
        """Return whether operators keep the workers of the stage from claiming tasks."""
        return self._read(read_paused, "/health")

    def _read(
        self, read: Callable[[str], R], path: str, params: Mapping[str, Any] | None = None
    ) -> R:
        text = self.text(path, params)
        try:
            return read(text)
        except ValueError as error:
            raise strange_answer(self.endpoint.url) from error

    def _call(self, answer: type[M], method: str, path: str, **request: Any) -> M:
        with self._advised():
            return super()._call(answer, method, path, **request)

    @contextmanager
    def _advised(self) -> Iterator[None]:
        try:
            yield
        except KeyRefused as error:
            raise KeyRefused(_wrong_key(self.endpoint.stage)) from error
        except NotConnected as error:
            if self.endpoint.stage is Stage.LOCAL:
                raise NotConnected(not_running()) from error
            raise


def _wrong_key(stage: Stage) -> str:
    if stage is Stage.LOCAL:
        return "The local cloud refused its key; start it afresh: `switchyard down`, then `up`."
    return f"The API of the stage {stage} refused the key; check {API_KEY}."
