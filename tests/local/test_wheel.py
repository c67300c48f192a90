"""The wheel, built and installed into an empty environment outside the repository, and used."""

import os
import re
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from switchyard import VERSION
from tests.local.leftovers import left_below

ROOT = Path(__file__).parents[2]
UV = Path(sys.executable).with_name("uv")
PACKAGES = {
    "switchyard",
    "switchyard_cli",
    "switchyard_local",
    "switchyard_scenarios",
    "switchyard_worker",
}
PYTHON_BLOCK = re.compile(r"```python\n(.*?)```", re.DOTALL)
BEFORE_THE_README = """
import json, subprocess
from pathlib import Path
cloud = json.loads(Path(".switchyard/cloud.json").read_text())["endpoint"]
url, key = cloud["api_url"], cloud["api_key"]
"""
DEFINITIONS = """
definitions:
  summarise:
    tag: editor
    description: Summarise the text in one sentence.
    backend: offline
    outputSchema:
      {type: object, required: [summary], properties: {summary: {type: string}}}
"""

pytestmark = pytest.mark.slow
only_when_asked = pytest.mark.skipif(
    "WHEEL" not in os.environ, reason="takes a minute: `make wheel-check`, which `make check` runs"
)


@dataclass(frozen=True)
class Installed:
    programs: Path
    folder: Path
    """Where a user works, outside of the repository."""
    port: int

    def run(self, program: str, *arguments: str) -> str:
        environment = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("PYTHON", "SWITCHYARD_", "VIRTUAL_ENV"))
        }
        ended = subprocess.run(
            [str(self.programs / program), *arguments],
            cwd=self.folder,
            env=environment | {"SWITCHYARD_PORT": str(self.port), "UV_SYSTEM_CERTS": "1"},
            capture_output=True,
            text=True,
            check=False,
        )
        assert ended.returncode == 0, ended.stdout + ended.stderr
        return ended.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = folder.glob("*.whl")
    return wheel


@pytest.fixture
def installed(wheel: Path, tmp_path: Path, port: int) -> Iterator[Installed]:
    """The pinned packages, which `make setup` has downloaded, and the wheel beside them."""
    environment, folder = tmp_path / "environment", tmp_path / "a folder"
    folder.mkdir()
    python = str(environment / "bin" / "python")
    install = [str(UV), "pip", "install", "--quiet", "--python", python]
    allowed = os.environ | {"UV_SYSTEM_CERTS": "1"}
    for command in (
        [str(UV), "venv", "--quiet", "--python", sys.executable, str(environment)],
        [*install, "--constraint", str(ROOT / "requirements.txt"), str(wheel)],
    ):
        subprocess.run(command, check=True, env=allowed)
    installed = Installed(environment / "bin", folder, port)
    try:
        yield installed
    finally:
        installed.run("switchyard", "down")
        assert left_below(folder) == []


def test_the_wheel_has_nothing_at_its_top_but_packages_of_its_own_name(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        tops = {name.split("/")[0] for name in archive.namelist()}
    assert {top for top in tops if not top.endswith(".dist-info")} == PACKAGES
    assert wheel.name.startswith(f"switchyard-{VERSION}-")


def test_the_wheel_brings_the_pytest_plugin(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        (points,) = [name for name in archive.namelist() if name.endswith("entry_points.txt")]
        said = archive.read(points).decode()
        assert "switchyard/testing/job_runs/plugin.py" in archive.namelist()
    assert "[pytest11]\nswitchyard = switchyard.testing.job_runs.plugin" in said


@only_when_asked
def test_it_runs_an_example_and_the_script_of_the_readme(installed: Installed) -> None:
    assert installed.run("switchyard", "--version") == f"switchyard {VERSION}\n"
    assert "Quiet northern craft" in installed.run("switchyard", "run", "brand-analysis")

    installed.run("switchyard", "up")
    (installed.folder / "definitions.yaml").write_text(DEFINITIONS)
    installed.run("switchyard", "definitions", "put", "definitions.yaml")
    (script,) = PYTHON_BLOCK.findall((ROOT / "README.md").read_text())
    said = installed.run("python", "-c", BEFORE_THE_README + script)

    assert "summary" in said
