"""A deliberate bug: one guard taken out of the real source, and the tests that must notice."""

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
MADE: Final = (".*", "__pycache__", "cdk.out")
"""What is no source."""
ALL_PASSED, SOME_FAILED = 0, 1
"""Pytest's exit codes; any other means that the tests did not run."""
MOST_SECONDS: Final = 600
"""A bug that makes a test run for ever is caught by that."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutant:
    guard: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]

    def planted_in(self, source: str) -> str:
        """Raise `ValueError` when the guard is not there exactly once: the list is out of date."""
        if source.count(self.old) != 1:
            raise ValueError(f"{self.guard}: {self.file} has it {source.count(self.old)} times")
        return source.replace(self.old, self.new)


@dataclass(frozen=True, slots=True)
class Verdict:
    caught: bool
    by: str


def copy_of_the_tree(folder: Path) -> Path:
    shutil.copytree(ROOT, folder, ignore=shutil.ignore_patterns(*MADE))
    return folder


def try_out(mutant: Mutant, folder: Path) -> Verdict:
    """Plant it in a copy of the tree, run its tests there, take it out again."""
    path = folder / mutant.file
    source = path.read_text()
    _write(path, mutant.planted_in(source))
    try:
        code, output = run_tests(folder, mutant.tests)
    finally:
        _write(path, source)
    if code not in {ALL_PASSED, SOME_FAILED}:
        raise RuntimeError(f"{mutant.guard}: the tests did not run\n{output}")
    failures = [line for line in output.splitlines() if line.startswith("FAILED")]
    return Verdict(code == SOME_FAILED, failures[0].split()[1] if failures else "nothing")


def _write(path: Path, source: str) -> None:
    """Write a source without its bytecode, which Python compares by whole seconds and by length."""
    path.write_text(source)
    for compiled in (path.parent / "__pycache__").glob(f"{path.stem}.*.pyc"):
        compiled.unlink()


def run_tests(folder: Path, tests: tuple[str, ...]) -> tuple[int, str]:
    """Return the exit code and the output of pytest; tests that are marked as long run as well."""
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *tests]
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            env={**os.environ, "LONG_TESTS": "all"},
            capture_output=True,
            text=True,
            check=False,
            timeout=MOST_SECONDS,
        )
    except subprocess.TimeoutExpired:
        return SOME_FAILED, f"FAILED by-not-ending-within-{MOST_SECONDS}-s"
    return done.returncode, done.stdout + done.stderr
