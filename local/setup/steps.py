"""What setup does, as commands in order."""

import json
import re
import sys
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Step:
    doing: str
    command: list[str]
    index: str = ""
    """Where the command downloads from, in words; empty when it does not."""
    otherwise: "Step | None" = None
    """What to do instead if it fails."""


PIP_INDEX = "pip's package index (PIP_INDEX_URL, HTTPS_PROXY)"
UV_INDEX = "uv's package index (UV_DEFAULT_INDEX, HTTPS_PROXY)"
NPM_INDEX = "npm's registry (npm_config_registry, HTTPS_PROXY)"


def environment_steps(root: Path, venv: Path) -> list[Step]:
    """From nothing to an empty virtual environment with uv, which is much faster than pip."""
    return [
        Step("Creating .venv", [sys.executable, "-m", "venv", "--clear", str(venv)]),
        Step("Installing uv", pip(venv, pinned_uv(root)), PIP_INDEX),
    ]


def package_steps(root: Path, venv: Path, *, claude: bool) -> list[Step]:
    cdk = pinned_cdk(root)
    steps = [
        uv_step("Installing the packages", venv, "-r", "requirements.txt"),
        uv_step("Linking Switchyard itself", venv, "--no-deps", "-e", "."),
        Step(f"Installing the CDK command line ({cdk})", npm(venv, cdk), NPM_INDEX),
    ]
    if claude:
        claude_agent = "Installing the Claude agent (160 MB)"
        steps.append(uv_step(claude_agent, venv, "-r", "worker/requirements.txt"))
    return steps


def uv_step(doing: str, venv: Path, *what: str) -> Step:
    """uv does not read pip's configuration, so where only pip knows the way, pip does it."""
    with_pip = Step(f"{doing} with pip (slower)", pip(venv, *what), PIP_INDEX)
    return Step(doing, uv(venv, *what), UV_INDEX, otherwise=with_pip)


def pip(venv: Path, *what: str) -> list[str]:
    install = [str(venv / "bin" / "python"), "-m", "pip", "install"]
    return [*install, "--disable-pip-version-check", *what]


def uv(venv: Path, *what: str) -> list[str]:
    install = [str(venv / "bin" / "uv"), "pip", "install"]
    return [*install, "--python", str(venv / "bin" / "python"), *what]


def npm(venv: Path, package: str) -> list[str]:
    """Node and npm come from a wheel, so the machine needs neither."""
    install = [str(venv / "bin" / "npm"), "install", "--no-audit", "--no-fund", "--no-save"]
    return [*install, "--prefix", str(venv / "lib" / "cdk"), package]


def pinned_uv(root: Path) -> str:
    pins = re.findall(r"^uv==\S+", (root / "requirements.txt").read_text(), re.MULTILINE)
    return pins[0] if pins else "uv"


def pinned_cdk(root: Path) -> str:
    manifest = json.loads((root / "package.json").read_text())
    return f"aws-cdk@{manifest['devDependencies']['aws-cdk']}"
