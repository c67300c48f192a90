"""Plain HTTP to MiniStack's one port, for what boto3 hides or is too slow to import for."""

import http.client
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from switchyard_local.emulator.loopback import LOOPBACK
from switchyard_local.errors import CloudError

TIMEOUT_SECONDS = 30.0  # the first call of a Lambda function starts a Python process


@dataclass(frozen=True)
class Reply:
    status: int
    body: bytes


class Gateway:
    def __init__(self, port: int) -> None:
        self._port = port

    def get(self, path: str, headers: Mapping[str, str] | None = None) -> Reply | None:
        """Send a GET; return `None` when nothing answers."""
        return self._send("GET", path, headers or {}, b"")

    def post(self, path: str) -> Reply | None:
        """Send a POST; return `None` when nothing answers."""
        return self._send("POST", path, {}, b"")

    def call(self, target: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """An AWS JSON call, answered with the raw response: boto3 drops what it does not know."""
        reply = self.try_call(target, arguments)
        if reply is None or reply.status != 200:
            raise CloudError(
                f"MiniStack did not answer {target}. Run `switchyard down`, then try again."
            )
        answer: dict[str, Any] = json.loads(reply.body)
        return answer

    def try_call(self, target: str, arguments: Mapping[str, Any]) -> Reply | None:
        """An AWS JSON call that may be refused; None when nothing answers."""
        headers = {"X-Amz-Target": target, "Content-Type": "application/x-amz-json-1.1"}
        return self._send("POST", "/", headers, json.dumps(arguments).encode())

    def configuration(self, function: str) -> dict[str, Any]:
        """Return the configuration of a Lambda function, as deployed."""
        reply = self.get(f"/2015-03-31/functions/{function}/configuration")
        if reply is None or reply.status != 200:
            raise CloudError(f"The function {function} is not deployed. Try `switchyard up`.")
        found: dict[str, Any] = json.loads(reply.body)
        return found

    def _send(
        self, method: str, path: str, headers: Mapping[str, str], body: bytes
    ) -> Reply | None:
        connection = http.client.HTTPConnection(LOOPBACK, self._port, timeout=TIMEOUT_SECONDS)
        try:
            connection.request(method, path, body=body, headers=dict(headers))
            response = connection.getresponse()
            return Reply(response.status, response.read())
        except (OSError, http.client.HTTPException):
            return None
        finally:
            connection.close()
