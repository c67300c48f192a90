"""What is installed is what was pinned: by version and by content."""

import json
import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from switchyard_local.setup.steps import package_steps
from switchyard_worker.pin_base_image import NotPinned, pinned

ROOT = Path(__file__).parents[2]
REQUIREMENTS = [
    "requirements.txt",
    "switchyard_worker/requirements.txt",
    "layers/dependencies/requirements.txt",
    "docs/requirements.txt",
]
DOCKERFILE = (ROOT / "switchyard_worker" / "Dockerfile").read_text()
DIGEST = f"sha256:{'0a' * 32}"


@pytest.mark.parametrize("name", REQUIREMENTS)
def test_every_requirement_is_pinned_with_hashes(name: str) -> None:
    pins = re.split(r"\n(?=\S)", (ROOT / name).read_text().strip())
    assert pins
    for pin in pins:
        assert re.match(r"[a-zA-Z0-9._\[\]-]+==[^ ;]+( ;.*)? \\\n", pin), pin
        assert re.search(r"--hash=sha256:[0-9a-f]{64}", pin), pin


def test_what_builds_switchyard_is_pinned_and_used_as_pinned(tmp_path: Path) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    pins = (ROOT / "requirements.txt").read_text()
    (backend,) = project["build-system"]["requires"]
    name = re.split(r"[<>=!~ ]", backend)[0]
    pin = re.search(rf"^{name}==(\S+)(?: ;.*)? \\\n +--hash=sha256:", pins, re.MULTILINE)
    assert pin, f"requirements.txt does not pin {name}"
    assert Requirement(backend).specifier.contains(pin[1])
    assert backend in project["project"]["optional-dependencies"]["dev"]
    links = [step for step in package_steps(ROOT, tmp_path, claude=True) if "." in step.command]
    assert links
    for step in links:
        assert step.otherwise is not None
        for command in (step.command, step.otherwise.command):
            assert "--no-build-isolation" in command


def test_the_image_builds_no_package() -> None:
    """The backends that would do so are pinned by nobody."""
    installs = re.findall(r"^RUN pip install .*", DOCKERFILE, re.MULTILINE)
    assert installs
    assert all("--require-hashes" in line and "--only-binary :all:" in line for line in installs)


def test_the_lock_file_of_npm_pins_by_integrity_and_names_no_registry() -> None:
    lock = json.loads((ROOT / "package-lock.json").read_text())
    manifest = json.loads((ROOT / "package.json").read_text())
    packages = {name: facts for name, facts in lock["packages"].items() if name}
    wanted = manifest["devDependencies"]["aws-cdk"]
    assert packages["node_modules/aws-cdk"]["version"] == wanted
    for facts in packages.values():
        assert facts["integrity"].startswith("sha512-")
        assert "resolved" not in facts


def test_a_base_image_is_pinned_by_digest_and_keeps_its_tag() -> None:
    once = pinned(DOCKERFILE, DIGEST)
    assert re.search(rf"^FROM python:3\.13\.\d+-slim-bookworm@{DIGEST}$", once, re.MULTILINE)
    assert pinned(once, DIGEST) == once


@pytest.mark.parametrize(
    ("dockerfile", "digest"),
    [("FROM a:1\n", "latest"), ("RUN x\n", DIGEST), ("FROM a:1\nFROM b:2\n", DIGEST)],
)
def test_what_cannot_be_pinned_is_refused(dockerfile: str, digest: str) -> None:
    with pytest.raises(NotPinned):
        pinned(dockerfile, digest)


def test_what_is_deployed_needs_nothing_that_the_package_does_not_ask_for_alike() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    extras = project["project"]["optional-dependencies"]
    asked = {*project["project"]["dependencies"], *extras["messages"], *extras["claude"]}
    groups = project["dependency-groups"]
    deployed = {one for group in groups.values() for one in group if isinstance(one, str)}
    assert deployed <= asked
