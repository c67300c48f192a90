"""The API of a stage: the client, with advice for whoever is at the command line."""

from typing import Any

import httpx

from cli.stages import API_KEY, NOT_RUNNING, Endpoint, Stage
from switchyard.client.connection import Connection, M
from switchyard.client.errors import KeyRefused, NotConnected
from switchyard.client.routes import Routes


class Api(Routes):
    def __init__(self, endpoint: Endpoint, transport: httpx.BaseTransport | None = None) -> None:
        self.endpoint = endpoint
        super().__init__(Connection(endpoint.url, endpoint.key, transport=transport))

    def _call(self, answer: type[M], method: str, path: str, **request: Any) -> M:
        try:
            return super()._call(answer, method, path, **request)
        except KeyRefused as error:
            raise KeyRefused(_wrong_key(self.endpoint.stage)) from error
        except NotConnected as error:
            if self.endpoint.stage is Stage.LOCAL:
                raise NotConnected(NOT_RUNNING) from error
            raise


def _wrong_key(stage: Stage) -> str:
    if stage is Stage.LOCAL:
        return "The local cloud refused its key; start it afresh: `switchyard down`, then `up`."
    return f"The API of the stage {stage} refused the key; check {API_KEY}."
