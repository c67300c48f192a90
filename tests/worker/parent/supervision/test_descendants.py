"""Finding and ending what a child left behind, when that does not go smoothly."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator

import psutil
import pytest

from switchyard_worker.parent.supervision.descendants import (
    Processes,
    Seen,
    all_processes,
    kill,
    orphans,
    processes_below,
    send,
)
from switchyard_worker.parent.supervision.user_processes import threads_of

NEGLIGENT = (
    "import subprocess, sys, time\n"
    "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])\n"
    "print(child.pid, flush=True); time.sleep(60)"
)


@pytest.fixture
def nobody_reaps() -> Iterator[psutil.Process]:
    """A process whose parent never asks what became of it."""
    parent = subprocess.Popen([sys.executable, "-c", NEGLIGENT], stdout=subprocess.PIPE, text=True)
    with parent:
        assert parent.stdout is not None
        yield psutil.Process(int(parent.stdout.readline()))
        parent.kill()


def test_a_process_that_is_not_ours_to_kill_does_no_harm(
    monkeypatch: pytest.MonkeyPatch, nobody_reaps: psutil.Process
) -> None:
    seen = all_processes()[nobody_reaps.pid]

    def denied(descriptor: int, number: int) -> None:
        raise PermissionError

    with monkeypatch.context() as patched:
        patched.setattr(signal, "pidfd_send_signal", denied)
        kill([seen])
    assert nobody_reaps.is_running()
    kill([seen])


def test_a_later_process_with_the_same_number_is_spared(nobody_reaps: psutil.Process) -> None:
    now = all_processes()[nobody_reaps.pid]
    before = Seen(now.pid, now.parent, now.session, now.started - 1, is_zombie=False)

    send([before], signal.SIGKILL)

    assert all_processes()[now.pid] == now


def test_everything_below_is_found_in_one_pass(
    monkeypatch: pytest.MonkeyPatch, nobody_reaps: psutil.Process
) -> None:
    passes = []

    def counted() -> Processes:
        passes.append(1)
        return all_processes()

    monkeypatch.setattr("switchyard_worker.parent.supervision.descendants.all_processes", counted)

    below = processes_below([os.getpid()])

    assert nobody_reaps.pid in [process.pid for process in below]
    assert passes == [1]


def test_a_name_like_the_rest_of_a_line_changes_nothing() -> None:
    """The name stands in parentheses before the figures, and may contain both."""
    code = "open('/proc/self/comm', 'w').write('x) S 1 1 1'); print(flush=True); input()"
    program = [sys.executable, "-c", code]
    with subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        child.stdout.readline()
        seen = all_processes()[child.pid]
        child.kill()
    assert (seen.parent, seen.session) == (os.getpid(), os.getsid(0))


def test_what_this_process_started_itself_is_no_orphan() -> None:
    with subprocess.Popen(["sleep", "60"]) as own:
        found = orphans(except_for=())
        own.kill()
    assert own.pid not in {process.pid for process in found.living}


MANY = """
import ctypes, os, sys, threading
os.setgid(int(sys.argv[1])); os.setuid(int(sys.argv[1]))
for _ in range(5):
    threading.Thread(target=threading.Event().wait, daemon=True).start()
ctypes.CDLL(None).prctl(4, int(sys.argv[2]), 0, 0, 0)
print("ready", flush=True)
sys.stdin.read()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the worker runs on Linux")
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
@pytest.mark.parametrize("dumpable", [1, 0], ids=["open", "hidden from others"])
def test_threads_of_a_user_are_counted_however_its_processes_hide(dumpable: int) -> None:
    user = 62_000 + os.getpid() % 1_000
    command = [sys.executable, "-I", "-S", "-c", MANY]
    with subprocess.Popen(
        [*command, str(user), str(dumpable)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        try:
            assert threads_of(user, most=100) == 6
            assert threads_of(user, most=3) > 3
            assert threads_of(user + 5_000, most=100) == 0
        finally:
            process.kill()
