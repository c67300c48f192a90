"""The steps of setup, as commands in order."""

import json
import re
import sys
from dataclasses import dataclass
from pathlib import Path

from switchyard_local.setup.errors import SetupError


@dataclass(frozen=True)
class Step:
    doing: str
    command: list[str]
    index: str = ""
    """The place that the command downloads from, in words; empty when it does not."""
    otherwise: "Step | None" = None
    """The step to take instead if this one fails."""


PIP_INDEX = "pip's package index (PIP_INDEX_URL, HTTPS_PROXY)"
UV_INDEX = "uv's package index (UV_DEFAULT_INDEX, HTTPS_PROXY)"
NPM_INDEX = "npm's registry (npm_config_registry, HTTPS_PROXY)"
HASHED = ("--require-hashes",)
"""A package whose content is not the one that was pinned is refused."""
PINNED_BUILD = ("--no-build-isolation",)
"""The option to build with the hatchling that requirements.txt pins, not with the newest one."""


def environment_steps(root: Path, venv: Path) -> list[Step]:
    """Return the steps to an empty virtual environment with uv, which is much faster than pip."""
    return [
        Step("Creating .venv", [sys.executable, "-m", "venv", "--clear", str(venv)]),
        Step("Installing uv", pip(venv, *HASHED, "-r", str(uv_requirement(root))), PIP_INDEX),
    ]


def package_steps(root: Path, venv: Path, *, claude: bool) -> list[Step]:
    cdk = pinned_cdk(root)
    steps = [
        uv_step("Installing the packages", venv, *HASHED, "-r", "requirements.txt"),
        uv_step("Linking Switchyard itself", venv, "--no-deps", *PINNED_BUILD, "-e", "."),
        Step(f"Installing the CDK command line ({cdk})", npm(root, venv), NPM_INDEX),
    ]
    if claude:
        claude_agent = "Installing the Claude agent (160 MB)"
        steps.append(
            uv_step(claude_agent, venv, *HASHED, "-r", "switchyard_worker/requirements.txt")
        )
    return steps


def uv_step(doing: str, venv: Path, *what: str) -> Step:
    """Return a step with uv; if that fails, with pip, whose configuration uv does not read."""
    with_pip = Step(f"{doing} with pip (slower)", pip(venv, *what), PIP_INDEX)
    return Step(doing, uv(venv, *what), UV_INDEX, otherwise=with_pip)


def pip(venv: Path, *what: str) -> list[str]:
    install = [str(venv / "bin" / "python"), "-m", "pip", "install"]
    return [*install, "--disable-pip-version-check", *what]


def uv(venv: Path, *what: str) -> list[str]:
    install = [str(venv / "bin" / "uv"), "pip", "install"]
    return [*install, "--python", str(venv / "bin" / "python"), *what]


def npm(root: Path, venv: Path) -> list[str]:
    """Return the npm command; Node and npm come from a wheel, so the machine needs neither.

    `npm ci` installs what the lock file says, and checks its integrity.
    """
    install = [sys.executable, "-m", "switchyard_local.setup.locked_npm", str(root), str(venv)]
    return [*install, "ci", "--no-audit", "--no-fund"]


def uv_requirement(root: Path) -> Path:
    """Write the pin of uv and its hashes to a file of its own, which pip reads."""
    pins = (root / "requirements.txt").read_text()
    pin = re.search(r"^uv==(?:.*\\\n)*.*\n", pins, re.MULTILINE)
    if pin is None:
        raise SetupError("requirements.txt does not pin uv: run `make lock` where it works.")
    file = root / ".switchyard" / "uv-requirement.txt"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(pin[0])
    return file


def pinned_cdk(root: Path) -> str:
    manifest = json.loads((root / "package.json").read_text())
    return f"aws-cdk@{manifest['devDependencies']['aws-cdk']}"
