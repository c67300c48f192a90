"""A child that does what no child should: run instead of `python -m switchyard_worker.child`."""

import sys
import textwrap
from pathlib import Path
from types import SimpleNamespace

import pytest


def let_children_run(code: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every child run `code` from now on; its task's folder is the last argument."""
    program = folder / "misbehave.py"
    program.write_text(textwrap.dedent(code))
    interpreter = folder / "python"
    interpreter.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{program}" "$@"\n')
    interpreter.chmod(0o755)
    monkeypatch.setattr(
        "switchyard_worker.parent.supervision.supervisor.sys",
        SimpleNamespace(executable=str(interpreter)),
    )
