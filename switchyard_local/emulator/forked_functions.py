"""Starts the processes of functions as forks of one that has imported what they import.

A process that imports everything by itself takes a second of processor time; a fork a tenth of it.
"""

import json
import os
import signal
import socket
import subprocess
import sys
import threading  # noqa: TID251 - MiniStack starts functions in threads of its own
from collections.abc import Mapping, Sequence
from contextlib import suppress
from multiprocessing.connection import wait  # noqa: TID251 - waits for one stream, of any number
from pathlib import Path
from typing import Any, Final

from switchyard_local.emulator import warm_process
from switchyard_local.emulator.warm_process import HEADER, PACKAGE, STREAMS, received

LAYERS: Final = "_LAMBDA_LAYERS_DIRS"
"""Where MiniStack names the folders of a function's layers."""
AT_ONCE: Final = 2
"""Warm processes: that of the layers deployed last, and the one before while functions change."""
OF_EACH: Final = frozenset({"LAMBDA_TASK_ROOT"})
"""Variables that differ, and of which imports only ask whether they are there."""
OF_THE_INTERPRETER: Final = ("PYTHON", "LD_", "LC_", "LANG", "TZ")
"""How variables begin that are read before any module is."""

Variables = Mapping[str, str]


class WarmProcess:
    """A process that has imported the layers, and our end of its socket."""

    def __init__(self, layers: Sequence[str], variables: Variables, *, cwd: Path) -> None:
        """Start it. Raise `OSError` if it ends before it is ready."""
        self._variables = variables
        self._control, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, warm_process.__file__, str(theirs.fileno()), *layers],
                cwd=cwd,
                env=dict(variables),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
            )
        size = received(self._control, HEADER.size)
        if not size:
            self.end()
            raise ChildProcessError("it could not import the layers")
        ready = json.loads(received(self._control, *HEADER.unpack(size)))
        self._looked_at: dict[str, str | None] = ready["variables"]
        self._modules = frozenset(ready["modules"])

    def suits(self, variables: Variables, code: Path) -> bool:
        """Return whether the function would have imported the same in a process of its own."""
        names = self._looked_at.keys() | _of_the_interpreter({**self._variables, **variables})
        same = all(self._variables.get(name) == variables.get(name) for name in names - OF_EACH)
        return same and self._modules.isdisjoint(entry.stem for entry in code.iterdir())

    def fork(self, script: str, cwd: str, variables: Variables) -> "ForkedFunction":
        """Start a function. Raise `OSError` if the warm process has ended."""
        pipes = [os.pipe() for _ in (*STREAMS, "ended")]
        (stdin_read, stdin), *others = pipes
        theirs = [stdin_read, *(written for _, written in others)]
        ours = [stdin, *(read for read, _ in others)]
        body = json.dumps({"script": script, "cwd": cwd, "env": dict(variables)}).encode()
        try:
            socket.send_fds(self._control, [HEADER.pack(len(body))], theirs)
            self._control.sendall(body)
        except OSError:
            for descriptor in ours:
                os.close(descriptor)
            raise
        finally:
            for descriptor in theirs:
                os.close(descriptor)
        return ForkedFunction(*ours)

    def end(self) -> None:
        """End it; the functions that it has become go on."""
        self._control.close()
        self._process.kill()
        self._process.wait()


class ForkedFunction:
    """A function's process, with as much of `subprocess.Popen` as MiniStack uses."""

    def __init__(self, stdin: int, stdout: int, stderr: int, ended: int) -> None:
        """Raise `ChildProcessError` if it ended before it began."""
        self.stdin = os.fdopen(stdin, "w", buffering=1, encoding="utf-8")
        self.stdout = os.fdopen(stdout, encoding="utf-8")
        self.stderr = os.fdopen(stderr, encoding="utf-8")
        self._ended = os.fdopen(ended, "rb", buffering=0)
        self.returncode: int | None = None
        first_line = self._ended.readline()
        if not first_line:
            for stream in (self.stdin, self.stdout, self.stderr, self._ended):
                stream.close()
            raise ChildProcessError("the warm process did not fork")
        self.pid = int(first_line)

    def poll(self) -> int | None:
        """Return 0 once it has ended, however it did; None before."""
        if self.returncode is None and wait([self._ended.fileno()], timeout=0):
            self._ended.close()
            self.returncode = 0
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        if self.returncode is None and not wait([self._ended.fileno()], timeout=timeout):
            raise subprocess.TimeoutExpired(str(self.pid), timeout or 0)
        return self.poll() or 0

    def terminate(self) -> None:
        self._signal(signal.SIGTERM)

    def kill(self) -> None:
        self._signal(signal.SIGKILL)

    def _signal(self, number: signal.Signals) -> None:
        if self.poll() is None:
            with suppress(ProcessLookupError):
                os.kill(self.pid, number)


class Functions:
    """Takes the place of `subprocess.Popen` for MiniStack."""

    def __init__(self) -> None:
        self._warm: dict[tuple[str, ...], WarmProcess] = {}
        self._starting = threading.Lock()

    def start(self, command: Sequence[str], **options: Any) -> Any:
        """Start a process: a fork where that is the same, which the function cannot tell."""
        if command[0] == sys.executable and LAYERS in (variables := options.get("env") or {}):
            layers = tuple(os.path.realpath(layer) for layer in variables[LAYERS].split(os.pathsep))
            with self._starting:
                if forked := self._forked(layers, command[1], options["cwd"], variables):
                    return forked
        return subprocess.Popen(command, **options)

    def end(self) -> None:
        """End the warm processes."""
        with self._starting:
            while self._warm:
                self._end_oldest()

    def _forked(
        self, layers: tuple[str, ...], script: str, cwd: str, variables: Variables
    ) -> ForkedFunction | None:
        """Return None where a process of its own would differ, or shows why layers cannot be."""
        if not any(Path(layer, "python", PACKAGE).is_dir() for layer in layers):
            return None
        try:
            if layers not in self._warm:
                self._warm[layers] = WarmProcess(layers, variables, cwd=Path(layers[0]).parent)
            while len(self._warm) > AT_ONCE:
                self._end_oldest()
            warm = self._warm[layers]
            return warm.fork(script, cwd, variables) if warm.suits(variables, Path(cwd)) else None
        except OSError:  # it was killed, say; the next function gets another
            if broken := self._warm.pop(layers, None):
                broken.end()
            return None

    def _end_oldest(self) -> None:
        self._warm.pop(next(iter(self._warm))).end()


def _of_the_interpreter(variables: Variables) -> set[str]:
    return {name for name in variables if name.startswith(OF_THE_INTERPRETER)}
