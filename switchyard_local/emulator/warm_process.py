"""Imports what functions import, once, and becomes a function whenever MiniStack asks for one.

It runs as a script with the environment and the layers of a function, and imports nothing else:
what a deployed function would miss must be missing here as well.
"""

import gc
import importlib
import json
import os
import pkgutil
import runpy
import signal
import socket
import struct
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from types import ModuleType
from typing import Any, Final

HEADER: Final = struct.Struct("!I")
"""Precedes each message, and says how many bytes it has."""
STREAMS: Final = (0, 1, 2)
PACKAGE: Final = "switchyard"
OTHERS: Final = ("aws_xray_sdk.core", "aws_xray_sdk.ext.botocore.patch")
"""What Powertools imports only once a tracer is made."""
OF_ONE_FUNCTION: Final = frozenset(
    {"switchyard.adapters.sqs_heartbeat", "switchyard.sqs_heartbeat"}
)
"""Modules with a logger that asks, when they are imported, which function it is in."""


class NotedVariables(os._Environ[str]):
    """The environment, which notes the variables that were looked at."""

    looked_at: Final[set[str]] = set()

    def __getitem__(self, name: str) -> str:
        self.looked_at.add(name)
        return super().__getitem__(name)


def import_all(layers: list[str]) -> dict[str, Any]:
    """Import all modules of the layers' package; return what a function must have in common."""
    plain, searched = type(os.environ), list(sys.path)
    os.environ.__class__ = NotedVariables
    sys.path[0:1] = [entry for layer in layers for entry in (layer, str(Path(layer, "python")))]
    package = importlib.import_module(PACKAGE)
    for name in (*OTHERS, *modules_of(package)):
        with suppress(ImportError):  # a function that needs it says what is missing
            importlib.import_module(name)
    sys.path[:] = searched
    os.environ.__class__ = plain
    looked_at = {name: os.environ.get(name) for name in NotedVariables.looked_at}
    return {"variables": looked_at, "modules": sorted({name.split(".")[0] for name in sys.modules})}


def modules_of(package: ModuleType) -> Iterator[str]:
    for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        if found.name not in OF_ONE_FUNCTION:
            yield found.name


def send(control: socket.socket, message: Any) -> None:
    body = json.dumps(message).encode()
    control.sendall(HEADER.pack(len(body)) + body)


def received(control: socket.socket, size: int) -> bytes:
    """Return so many bytes, or fewer at the end."""
    parts = bytearray()
    while len(parts) < size and (part := control.recv(size - len(parts))):
        parts += part
    return bytes(parts)


def next_function(control: socket.socket) -> tuple[Any, list[int]] | None:
    """Return what to run and its streams; None once MiniStack has ended or needs us no more."""
    header, streams, _, _ = socket.recv_fds(control, HEADER.size, len(STREAMS) + 1)
    if not header:
        return None
    header += received(control, HEADER.size - len(header))
    return json.loads(received(control, *HEADER.unpack(header))), streams


def serve(control: socket.socket) -> tuple[Any, list[int]] | None:
    """Fork for each request; return it in the new process, and None in this one at the end."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the system collects what has ended
    gc.freeze()
    while asked := next_function(control):
        if os.fork() == 0:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            control.close()
            return asked
        for stream in asked[1]:
            os.close(stream)
    return None


def become(function: Any, streams: list[int]) -> None:
    """Go on as if this process had been started as the function's: streams, folder, variables."""
    *own, ended = streams
    for number, stream in zip(STREAMS, own, strict=True):
        os.dup2(stream, number)
        os.close(stream)
    os.set_inheritable(ended, False)  # noqa: FBT003 - it stays open for as long as this process runs
    os.chdir(function["cwd"])
    os.environ.clear()
    os.environ.update(function["env"])
    os.write(ended, f"{os.getpid()}\n".encode())
    script = function["script"]
    sys.argv[:] = [script]
    sys.path[0] = str(Path(script).parent)
    runpy.run_path(script, run_name="__main__")


def main() -> None:
    control = socket.socket(fileno=int(sys.argv[1]))
    control.set_inheritable(False)
    printed, sys.stdout = sys.stdout, sys.stderr
    send(control, import_all(sys.argv[2:]))
    sys.stdout = printed
    if asked := serve(control):
        become(*asked)


if __name__ == "__main__":
    main()
