"""The sources of a released version, from the repository's history."""

import os
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from typing import Final

from tests.compatibility.released import RELEASED

ROOT: Final = Path(__file__).parents[2]


class NoHistory(Exception):
    """The revision is not in this clone."""


def last_released() -> str:
    return RELEASED[-1].revision


def extracted(revision: str, folder: Path) -> Path:
    """The sources as they were; raise `NoHistory` with a sentence that says what to do."""
    found = subprocess.run(
        ["git", "archive", "--format=tar", revision], cwd=ROOT, capture_output=True, check=False
    )
    if found.returncode:
        raise NoHistory(
            f"The revision {revision} is not in this clone. Fetch the history"
            " (`git fetch --unshallow`), or name another revision: OLD=<revision>."
        )
    with tarfile.open(fileobj=BytesIO(found.stdout)) as archive:
        archive.extractall(folder, filter="data")
    return folder


def todays(folder: Path) -> Path:
    """Copy the sources as they are now, so that a check may change them."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=True,
        text=True,
    )
    for name in filter(None, listed.stdout.split("\0")):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)
    return folder


def python_in(tree: Path, arguments: Sequence[str]) -> None:
    """Run Python with that tree's packages instead of those that the environment installed."""
    path = os.pathsep.join(map(str, (tree, tree / "layers" / "shared" / "python")))
    environment = {**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"}
    subprocess.run([sys.executable, *arguments], cwd=tree, env=environment, check=True)
