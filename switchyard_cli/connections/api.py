"""The client of a stage's API, whose errors advise a user of the command line."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from switchyard.client.connection import Connection, M
from switchyard.client.errors import KeyRefused, NotConnected
from switchyard.client.routes import Routes
from switchyard_cli.connections.endpoints import API_KEY, Endpoint
from switchyard_cli.stages import Stage
from switchyard_local.errors import not_running

if TYPE_CHECKING:
    import httpx


class Api(Routes):
    def __init__(self, endpoint: Endpoint, transport: httpx.BaseTransport | None = None) -> None:
        self.endpoint = endpoint
        super().__init__(Connection(endpoint.url, endpoint.key, transport=transport))

    def text(self, path: str) -> str:
        """Return an answer that is no model, such as a page."""
        with self._advised():
            return self._connection.text(path)

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
