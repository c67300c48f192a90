"""One line for each check, and a count at the end."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import httpx
import psutil

FAILURES = (AssertionError, OSError, subprocess.SubprocessError, httpx.HTTPError, psutil.Error)
"""What a check may raise without ending the others."""


class Report:
    def __init__(self) -> None:
        self._passed = 0
        self._failed = 0

    @contextmanager
    def check(self, what: str) -> Iterator[None]:
        """Print whether the block raised anything, and go on."""
        try:
            yield
        except FAILURES as problem:
            self._failed += 1
            say(f"FAILED  {what}: {problem or type(problem).__name__}")
        else:
            self._passed += 1
            say(f"ok      {what}")

    def end(self) -> int:
        """Print the count; return the exit code."""
        say(f"{self._passed} checks passed, {self._failed} failed")
        return 1 if self._failed or not self._passed else 0


def require(found: object, expected: object) -> None:
    """Raise `AssertionError` unless both are equal."""
    if found != expected:
        raise AssertionError(f"found {found!r}, expected {expected!r}")


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()
