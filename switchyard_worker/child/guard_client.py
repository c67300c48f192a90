"""Asks the guard's process from a program without an event loop: a task's child."""

import socket
import subprocess
from collections.abc import Mapping
from typing import Any

from switchyard_worker.agents.clock import monotonic
from switchyard_worker.guard import frames
from switchyard_worker.guard.examine import Finding
from switchyard_worker.guard.process import LIMITS, WALL_TIME_FACTOR
from switchyard_worker.guard.starting import (
    MARGIN_SECONDS,
    MAX_MEGABYTES,
    MAX_SECONDS,
    GuardUnavailable,
    command,
    connection_pair,
    environment,
    unchecked,
    value_question,
)


class BlockingGuard:
    """Starts a guard process, which ends with this one: it then finds its socket closed."""

    def __init__(
        self, *, max_seconds: float = MAX_SECONDS, max_megabytes: int = MAX_MEGABYTES
    ) -> None:
        self._max_seconds = max_seconds
        self._limits = LIMITS.pack(max_seconds, max_megabytes)
        self._control: socket.socket | None = None
        self._process: subprocess.Popen[bytes] | None = None

    def check_value(self, document: bytes, schema: Mapping[str, Any]) -> Finding:
        """Hold a JSON text against a schema. Raise `GuardUnavailable`."""
        began = monotonic()
        try:
            with self._connected() as connection:
                connection.settimeout(self._max_seconds * WALL_TIME_FACTOR + MARGIN_SECONDS)
                frames.send(connection, *value_question(document, schema))
                return Finding.received(*frames.receive(connection))
        except (frames.BrokenFrame, OSError):
            return unchecked(took=monotonic() - began, max_seconds=self._max_seconds)

    def close(self) -> None:
        if self._control:
            self._control.close()
        if self._process:
            self._process.kill()
            self._process.wait()
        self._control = self._process = None

    def _connected(self) -> socket.socket:
        control = self._control = self._control or self._started()
        ours, theirs = connection_pair()
        with theirs:
            socket.send_fds(control, [self._limits], [theirs.fileno()])
        return ours

    def _started(self) -> socket.socket:
        ours, theirs = connection_pair()
        with theirs:
            try:
                self._process = subprocess.Popen(
                    command({}),
                    stdin=theirs.fileno(),
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    env=environment(),
                )
            except OSError as error:
                ours.close()
                raise GuardUnavailable(f"no process checks schemas: {error}") from error
        return ours
