"""`python -m switchyard_worker.parent.claude.proxy CONTROL LISTENER`: the numbers of two inherited
sockets.

The credential comes over the first one. When that ends, the worker is gone, and so is the proxy.
"""

import asyncio
import ctypes
import resource
import signal
import socket
import sys
from typing import Final

from switchyard_worker.parent.claude.proxy.control import NotInstalled, encode

PR_SET_DUMPABLE: Final = 4  # <linux/prctl.h>


def main(control: socket.socket, listener: socket.socket) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the worker ends it, after its tasks
    _hide_memory()
    try:
        from switchyard_worker.parent.claude.proxy.process import serve  # noqa: PLC0415 - not installed everywhere
    except ImportError as error:
        control.sendall(encode(NotInstalled(package=error.name or str(error))))
        return
    asyncio.run(serve(control, listener))


def _hide_memory() -> None:
    """Forbid core dumps, and other processes of this user: the memory holds the credential."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)


if __name__ == "__main__":
    main(socket.socket(fileno=int(sys.argv[1])), socket.socket(fileno=int(sys.argv[2])))
