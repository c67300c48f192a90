"""The task metadata endpoint and the agent that ECS puts beside a container, on the loopback."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any


class EcsMachine:
    """One container's machine: it knows its task definition and records its protection."""

    def __init__(self, release: str) -> None:
        self.family, _, self.revision = release.rpartition(":")
        self.status = 200
        self.protections: list[int | None] = []
        """The minutes that were asked for, and `None` for each time it was dropped."""
        machine = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                found = self.path == "/v4/id/task"
                self._reply(machine.status if found else 404, machine.metadata)

            def do_PUT(self) -> None:
                wish = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                enabled = wish["ProtectionEnabled"]
                machine.protections.append(wish["ExpiresInMinutes"] if enabled else None)
                self._reply(200, {"protection": {"ProtectionEnabled": enabled}})

            def _reply(self, status: int, answer: Any) -> None:
                self.send_response(status)
                self.end_headers()
                self.wfile.write(json.dumps(answer).encode())

            def log_message(self, *_: Any) -> None:
                pass

        self.server = HTTPServer(("127.0.0.1", 0), Handler)

    @property
    def metadata(self) -> dict[str, Any]:
        """Answer as Fargate does, without what nobody reads."""
        return {"Family": self.family, "Revision": self.revision, "KnownStatus": "RUNNING"}

    @property
    def protected(self) -> bool:
        return bool(self.protections) and self.protections[-1] is not None

    @property
    def environment(self) -> dict[str, str]:
        """What ECS puts into the environment of the container."""
        url = f"http://127.0.0.1:{self.server.server_port}"
        return {"ECS_CONTAINER_METADATA_URI_V4": f"{url}/v4/id", "ECS_AGENT_URI": f"{url}/api/id"}


@contextmanager
def ecs_machine(release: str) -> Iterator[EcsMachine]:
    machine = EcsMachine(release)
    serving = threading.Thread(target=machine.server.serve_forever, args=(0.01,))
    serving.start()
    try:
        yield machine
    finally:
        machine.server.shutdown()
        serving.join()
        machine.server.server_close()
