"""`prepare.py` must end in a sentence on interpreters that cannot run the rest of us."""

import ast
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from switchyard_local import prepare

PREPARE = Path(prepare.__file__)
PYENV = Path.home() / ".pyenv" / "versions"
OLD_PYTHONS = [PYENV / version / "bin" / "python3" for version in ("3.6.15", "3.8.18", "3.10.13")]


def version_ids(paths: Sequence[Path]) -> list[str]:
    return [path.parts[-3] for path in paths]


@pytest.mark.parametrize("python", OLD_PYTHONS, ids=version_ids(OLD_PYTHONS))
def test_an_old_python_alone_says_what_to_install(python: Path, tmp_path: Path) -> None:
    if not python.exists():
        pytest.skip(f"{python} is not on this machine")
    ran = subprocess.run(
        [str(python), str(PREPARE)],
        env={"PATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 1
    assert ran.stderr.startswith("Switchyard needs Python 3.11 or newer, and ")
    assert f"is Python {python.parts[-3]}. Install Python 3.13" in ran.stderr
    assert "Traceback" not in ran.stderr


@pytest.mark.parametrize("python", OLD_PYTHONS, ids=version_ids(OLD_PYTHONS))
def test_an_old_python_hands_over_to_a_newer_one_on_the_path(python: Path, tmp_path: Path) -> None:
    if not python.exists():
        pytest.skip(f"{python} is not on this machine")
    (tmp_path / "python3.12").symlink_to("/bin/false")  # a shim without a version behind it
    (tmp_path / "python3.11").write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    (tmp_path / "python3.11").chmod(0o755)
    ran = subprocess.run(
        [str(python), str(PREPARE), "--help"],
        env={"PATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ran.returncode, ran.stderr) == (0, "")
    assert "also install the Claude agent" in ran.stdout


def test_every_python_since_3_6_understands_the_file() -> None:
    ast.parse(PREPARE.read_text(), feature_version=(3, 6))


@pytest.mark.parametrize("version", [(3, 6, 15), (3, 10, 13)])
def test_an_old_python_without_a_newer_one_is_not_suitable(
    version: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "version_info", version)
    monkeypatch.setattr(prepare, "executable_of", lambda name: "")
    assert prepare.suitable_python() == ""
    with pytest.raises(SystemExit, match=f"is Python {'.'.join(map(str, version))}. Install"):
        prepare.main()


def test_an_old_python_takes_the_first_newer_one_that_starts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = {"python3.12": "/opt/python3.12", "python3.11": "/opt/python3.11"}
    monkeypatch.setattr(sys, "version_info", (3, 8, 18))
    monkeypatch.setattr(prepare, "executable_of", lambda name: found.get(name, ""))
    assert prepare.suitable_python() == "/opt/python3.12"


def test_a_suitable_python_is_kept() -> None:
    assert prepare.suitable_python() == sys.executable


def test_among_newer_pythons_the_newest_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prepare, "OLDEST", (99,))
    monkeypatch.setattr(prepare, "executable_of", lambda name: f"/usr/bin/{name}")
    assert prepare.suitable_python() == "/usr/bin/python3.13"


def test_a_name_that_does_not_start_is_no_python(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", os.defpath)
    assert prepare.executable_of("python9.99") == ""
    assert prepare.executable_of("false") == ""
