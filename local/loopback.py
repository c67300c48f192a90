"""Is a port of this machine free, and if not, who has it?"""

import socket

import psutil

from local.errors import CloudError

LOOPBACK = "127.0.0.1"


def require_free(port: int) -> None:
    if is_free(port):
        return
    raise CloudError(
        f"Port {port} is taken by {holder_of(port)}. "
        f"Stop that program, or choose another port: SWITCHYARD_PORT={port + 1}."
    )


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
    try:
        process = psutil.Process(listener_on(port))
        return f"`{' '.join(process.cmdline())[:80]}` (process {process.pid})"
    except (psutil.Error, LookupError):
        return "another program"  # the system does not tell us which


def listener_on(port: int) -> int:
    for connection in psutil.net_connections("tcp"):
        if connection.status == psutil.CONN_LISTEN and connection.pid and connection.laddr:
            _, its_port = connection.laddr
            if its_port == port:
                return connection.pid
    raise LookupError(port)
