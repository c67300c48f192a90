"""Executes the blocks of a page in one shell, in a folder that looks like a fresh clone."""

import os
import re
import shlex
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from switchyard_local.errors import FOLDER_VARIABLE
from tests.docs.masks import masked
from tests.docs.pages import ROOT, SHELL, Block, commands_of
from tests.run_suite import UNUSED_PLUGINS

PATIENCE_SECONDS: Final = 600
_END: Final = "@@ the command has ended with "
_MAKE: Final = '#!/bin/sh\nexec env PATH={path} make -n "$@" >/dev/null\n'
"""Targets have to exist; the local cloud is up already."""

Printed = tuple[list[str], int]


@dataclass(frozen=True)
class Step:
    block: Block
    command: str
    shown: list[str]
    fails: bool
    """Whether its block says that it fails, and it is the last command there."""


def lay_out(folder: Path, *, cloud: Path) -> Path:
    """Make a folder that readers would call their clone, with a local cloud that is up."""
    clone, programs = folder / "clone", folder / "programs"
    for made in (clone / ".venv" / "bin", programs):
        made.mkdir(parents=True)
    for entry in ROOT.iterdir():
        if not entry.name.startswith("."):
            (clone / entry.name).symlink_to(entry)
    (clone / ".switchyard").symlink_to(cloud)
    (clone / ".venv" / "bin" / "activate").touch()
    make = programs / "make"
    make.write_text(_MAKE.format(path=shlex.quote(os.environ["PATH"])))
    make.chmod(0o755)
    return clone


def problems_with(blocks: list[Block], clone: Path, *programs: Path) -> list[str]:
    """Run the blocks in order, with more folders of programs first on their PATH; return what a
    reader who types them would stumble over."""
    steps, printed = run_in_order(blocks, clone, *programs)
    problems = []
    for step, (lines, status) in zip(steps, printed, strict=False):
        if (status != 0) is not step.fails:
            problems.append(_said(step, f"exits with {status} and prints", lines))
        elif "output" in step.block.marks and masked(lines) != masked(step.shown):
            problems.append(_said(step, "prints", lines))
    missing = steps[len(printed) :]
    if missing and not problems:
        problems.append(_said(missing[0], "has not ended", []))
    return problems


def run_in_order(
    blocks: list[Block], clone: Path, *programs: Path
) -> tuple[list[Step], list[Printed]]:
    """Run the blocks until one command ends as it should not; return what there was to run, and
    the lines and the exit code of each command that was run."""
    steps: list[Step] = []
    for block in blocks:
        if "file" in block.marks:
            file = clone / block.marks["file"]
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(block.text)
        elif block.language in SHELL and block.runs:
            steps += _steps_of(block)
    return steps, _run(steps, clone, (*programs, clone.parent / "programs"))


def _steps_of(block: Block) -> list[Step]:
    commands = commands_of(block)
    fails = block.marks.get("run") == "fails"
    return [
        Step(block, command.text, command.output, fails=fails and command is commands[-1])
        for command in commands
    ]


def _run(steps: list[Step], clone: Path, programs: tuple[Path, ...]) -> list[Printed]:
    script = ["exec 2>&1", "set -o pipefail"]
    for step in steps:
        script += ["{", step.command, "} </dev/null", "status=$?", f'echo "{_END}$status"']
        script += [f"[ $status {'!=' if step.fails else '='} 0 ] || exit"]
    environment = os.environ | {
        "PATH": os.pathsep.join([*map(str, programs), os.environ["PATH"]]),
        FOLDER_VARIABLE: str((clone / ".switchyard").resolve()),
        "COLUMNS": "200",
        "NO_COLOR": "1",
        "PYTEST_ADDOPTS": " ".join(UNUSED_PLUGINS),  # readers have not installed them
    }
    ran = subprocess.run(
        ["bash", "-c", "\n".join(script)],
        cwd=clone, env=environment, capture_output=True, text=True, check=False,
        timeout=PATIENCE_SECONDS,
    )  # fmt: skip
    *ended, _ = re.split(rf"{_END}(\d+)\n", ran.stdout)
    return [
        (output.splitlines(), int(status))
        for output, status in zip(ended[::2], ended[1::2], strict=True)
    ]


def _said(step: Step, what: str, lines: list[str]) -> str:
    return "\n".join([f"{step.block.place}: `{step.command}` {what}", *lines])
