"""Finding and ending what a child left behind, when that does not go smoothly."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator

import psutil
import pytest

from switchyard_worker.boundary import become_subreaper
from switchyard_worker.parent.supervision.descendants import (
    Processes,
    Running,
    Seen,
    all_processes,
    kill,
    orphans,
    processes_below,
    seen,
    send,
)

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
        found = orphans(Running())
        own.kill()
    assert own.pid not in {process.pid for process in found.living}


DAEMON = """
import os, sys, time
os.setgid(int(sys.argv[1])); os.setuid(int(sys.argv[1]))
if os.fork():
    os._exit(0)
os.setsid()
print(os.getpid(), flush=True)
time.sleep(60)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the worker runs on Linux")
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_what_a_running_task_left_in_the_background_is_no_orphan_until_it_ends() -> None:
    become_subreaper()
    user = 63_000 + os.getpid() % 1_000
    command = [sys.executable, "-I", "-S", "-c", DAEMON, str(user)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        pid = int(process.stdout.readline())
        process.wait()
        while_it_runs = orphans(Running(users=frozenset({user})))
        afterwards = orphans(Running(users=frozenset({user + 5_000})))
        kill([all_processes()[pid]])
        os.waitpid(pid, 0)
    assert pid not in {one.pid for one in while_it_runs.living}
    assert pid in {one.pid for one in afterwards.living}


FIRST_THREAD_ENDS = """
import ctypes, os, threading, time
def go_on():
    while " Z " not in open(f"/proc/{os.getpid()}/stat").read():
        time.sleep(0.01)
    print("ready", flush=True)
    threading.Event().wait()
threading.Thread(target=go_on).start()
ctypes.CDLL(None).syscall({"x86_64": 60, "aarch64": 93}[os.uname().machine], 0)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the worker runs on Linux")
def test_a_process_whose_first_thread_has_ended_still_lives() -> None:
    command = [sys.executable, "-I", "-S", "-c", FIRST_THREAD_ENDS]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        try:
            found = seen(process.pid)
            assert found is not None
            assert not found.is_zombie
        finally:
            process.kill()
