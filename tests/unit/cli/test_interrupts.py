"""Ctrl-C interrupts a command wherever it is pressed."""

import subprocess
import sys

IN_A_CALLBACK = """
import signal, time, weakref
from switchyard_cli.interrupts import raise_on_ctrl_c, was_pressed

class Thing:
    pass

raise_on_ctrl_c()
thing = Thing()
reference = weakref.ref(thing, lambda _: signal.raise_signal(signal.SIGINT))
try:
    del thing  # the callback cannot raise
    time.sleep(10)
except KeyboardInterrupt:
    print("interrupted", was_pressed())
"""
IN_A_DESTRUCTOR = """
from switchyard_cli.interrupts import raise_on_ctrl_c

class Thing:
    def __del__(self):
        1 / 0

raise_on_ctrl_c()
Thing()
"""


def ran(text: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", text], capture_output=True, text=True, timeout=30, check=True
    )


def test_where_nothing_can_be_raised_it_is_raised_soon_after() -> None:
    done = ran(IN_A_CALLBACK)

    assert (done.stdout, done.stderr) == ("interrupted True\n", "")


def test_other_exceptions_that_cannot_be_raised_are_printed_as_usual() -> None:
    assert "ZeroDivisionError" in ran(IN_A_DESTRUCTOR).stderr
