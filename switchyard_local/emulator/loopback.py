"""Checks whether a port of this machine is free, and if not, which process has it."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING

from switchyard_local.errors import CloudError

if TYPE_CHECKING:
    from switchyard.ports import Clock

LOOPBACK = "127.0.0.1"
RELEASE_SECONDS = 5.0
"""The time that the system may take to release the port of a program that was killed."""


def require_free(port: int, *, clock: Clock) -> None:
    """Raise `CloudError` if a program listens on the port, or the system does not release it."""
    deadline = clock.monotonic() + RELEASE_SECONDS
    while not is_free(port):
        if _has_listener(port) or clock.monotonic() > deadline:
            raise _taken(port)
        clock.sleep(0.1)


def _taken(port: int) -> CloudError:
    return CloudError(
        f"Port {port} is taken by {holder_of(port)}. "
        f"Stop that program, or choose another port: SWITCHYARD_PORT={port + 1}."
    )


def _has_listener(port: int) -> bool:
    import psutil  # noqa: PLC0415 - slow to import, and most importers need the address alone

    try:
        return psutil.pid_exists(listener_on(port))
    except LookupError:
        return False


def is_free(port: int) -> bool:
    with socket.socket() as caller:
        if caller.connect_ex((LOOPBACK, port)) == 0:
            return False
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((LOOPBACK, port))
        except OSError:
            return False
    return True


def holder_of(port: int) -> str:
    import psutil  # noqa: PLC0415

    try:
        process = psutil.Process(listener_on(port))
        return f"`{' '.join(process.cmdline())[:80]}` (process {process.pid})"
    except (psutil.Error, LookupError):
        return "another program"  # the system does not say which


def listener_on(port: int) -> int:
    import psutil  # noqa: PLC0415

    for connection in psutil.net_connections("tcp"):
        if connection.status == psutil.CONN_LISTEN and connection.pid and connection.laddr:
            _, its_port = connection.laddr
            if its_port == port:
                return connection.pid
    raise LookupError(port)
