"""Runs npm in the folder of the CDK command line, with the repository's lock file.

A program, `python -m switchyard_local.setup.locked_npm ROOT VENV ci …`: npm reads `package.json`
and `package-lock.json` only from the folder that it installs into.
"""

import shutil
import subprocess
import sys
from pathlib import Path

FILES = ("package.json", "package-lock.json", ".npmrc")


def main(root: Path, venv: Path, arguments: list[str]) -> int:
    folder = venv / "lib" / "cdk"
    copy_lock_files(root, folder)
    npm = [str(venv / "bin" / "npm"), *arguments, "--prefix", str(folder)]
    return subprocess.run(npm, cwd=folder, check=False).returncode


def copy_lock_files(root: Path, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name in FILES:
        shutil.copy(root / name, folder / name)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3:]))
