"""Runs `switchyard` in forks of one process that has imported all of it.

Pages have dozens of commands, and most of what each costs is its imports. The stub that a shell
finds as `switchyard` hands its arguments, folder, environment and open files to that process,
whose fork runs the command's `main`. The script of the package is tried with the wheel.
"""

import gc
import json
import os
import shlex
import signal
import socket
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from tests.docs.pages import ROOT

READY_SECONDS: Final = 60
FAILED: Final = 70
STUB: Final = """
import json, os, socket, sys
with socket.socket(socket.AF_UNIX) as server:
    server.connect({address!r})
    socket.send_fds(server, [b" "], [0, 1, 2])
    server.sendall(json.dumps([sys.argv[1:], os.getcwd(), dict(os.environ)]).encode())
    server.shutdown(socket.SHUT_WR)
    sys.exit(int(server.recv(8) or {failed}))
"""


@contextmanager
def warm_command() -> Iterator[Path]:
    """Yield a folder for the PATH in which `switchyard` starts without imports."""
    with tempfile.TemporaryDirectory() as name:  # a socket's path has 107 characters at most
        folder = Path(name)
        address = folder / "socket"
        server = subprocess.Popen(
            [sys.executable, "-m", __name__, str(address)], cwd=ROOT, stdout=subprocess.PIPE
        )
        assert server.stdout is not None
        try:
            assert server.stdout.readline(), "the process that imports the command has ended"
            yield _stub(folder, address)
        finally:
            server.terminate()
            server.wait(READY_SECONDS)
            server.stdout.close()


def _stub(folder: Path, address: Path) -> Path:
    programs = folder / "programs"
    programs.mkdir()
    (folder / "stub.py").write_text(STUB.format(address=str(address), failed=FAILED))
    python, stub = shlex.quote(sys.executable), shlex.quote(str(folder / "stub.py"))
    program = programs / "switchyard"
    program.write_text(f'#!/bin/sh\nexec {python} -IS {stub} "$@"\n')
    program.chmod(0o755)
    return programs


def _serve(address: str) -> None:
    _import_everything()
    gc.freeze()
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(address)
        listening.listen()
        os.write(1, b"ready\n")
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for the forks
        while True:
            connection, _ = listening.accept()
            if os.fork() == 0:
                listening.close()
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                _answer(connection)
            connection.close()


def _import_everything() -> None:
    from switchyard_cli.app import command_of  # noqa: PLC0415 - the stub's side needs none of it
    from switchyard_cli.command_table import COMMANDS  # noqa: PLC0415
    from tests.described_services import read_descriptions_once  # noqa: PLC0415

    for entry in COMMANDS:
        command_of(entry)
    for module in ("httpx", "rich.live", "switchyard_cli.wiring"):
        __import__(module)
    read_descriptions_once()


def _answer(connection: socket.socket) -> None:
    _, files, _, _ = socket.recv_fds(connection, 1, 3)
    request = b"".join(iter(lambda: connection.recv(65_536), b""))
    for standard, given in enumerate(files):
        os.dup2(given, standard)
        os.close(given)
    _open_standard_streams()
    code = FAILED
    try:
        code = _run(*json.loads(request))
        sys.stdout.flush()
    except Exception:  # noqa: BLE001 - a fork has nobody to raise it to but its own output
        traceback.print_exc()
    finally:
        connection.sendall(str(code).encode())
        os._exit(code)


def _open_standard_streams() -> None:
    """Open them as the interpreter does: those of the server know that theirs could be sought."""
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115 - until the fork ends
    sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", encoding="utf-8", closefd=False, buffering=1)  # noqa: SIM115


def _run(arguments: list[str], folder: str, environment: dict[str, str]) -> int:
    from switchyard_cli.main import main  # noqa: PLC0415 - the stub's side needs none of it

    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = ["switchyard", *arguments]
    try:
        main()
    except SystemExit as end:
        return _code_of(end.code)
    return 0


def _code_of(code: Any) -> int:
    """Return what the interpreter would exit with."""
    if code is None or isinstance(code, int):
        return code or 0
    sys.stderr.write(f"{code}\n")
    return 1


if __name__ == "__main__":
    _serve(sys.argv[1])
