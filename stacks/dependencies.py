"""Installs the dependency layer's content with uv: no Docker, and once per set of requirements."""

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, get_args

from stacks.errors import LayerNotBuilt
from stacks.paths import LAYER_CACHE, LAYER_REQUIREMENTS
from stacks.stage import PythonPlatform
from switchyard.adapters.aws_services import Service

# botocore describes over 400 services in 25 MB; every cold start would unpack them all.
AWS_SERVICES: Final = frozenset({*get_args(Service), "xray"})  # aws-xray-sdk asks for its rules
# Files of a layer get new times when they are unpacked: bytecode that compares times is stale then.
_BYTECODE: Final = {"PYC_INVALIDATION_MODE": "UNCHECKED_HASH"}


def bundle_dependencies(
    platform: PythonPlatform,
    *,
    requirements: Path = LAYER_REQUIREMENTS,
    cache: Path = LAYER_CACHE,
) -> Path:
    """The layer's folder, named after what it was built from."""
    bundle = cache / _fingerprint(requirements, platform)
    if not bundle.exists():
        cache.mkdir(parents=True, exist_ok=True)
        _build(bundle, requirements, platform)
    return bundle


def _fingerprint(requirements: Path, platform: PythonPlatform) -> str:
    recipe = repr((platform, "no-deps", sorted(AWS_SERVICES)))
    return hashlib.sha256(requirements.read_bytes() + recipe.encode()).hexdigest()


def _build(bundle: Path, requirements: Path, platform: PythonPlatform) -> None:
    with TemporaryDirectory(dir=bundle.parent) as scratch:
        layer = Path(scratch, "layer")
        _install(requirements, layer / "python", platform)
        _keep_services(layer / "python" / "botocore" / "data")
        try:
            layer.rename(bundle)
        except OSError:
            if not bundle.exists():  # it does when another synthesis was faster
                raise


def _keep_services(descriptions: Path) -> None:
    for service in descriptions.glob("*/"):
        if service.name not in AWS_SERVICES:
            shutil.rmtree(service)


def _install(requirements: Path, target: Path, platform: PythonPlatform) -> None:
    install = [sys.executable, "-m", "uv", "pip", "install", "--quiet", "--only-binary", ":all:"]
    install.append("--no-deps")  # what is not pinned is not deployed, and its import fails here
    where = ["--target", str(target), *platform.uv_options, "--requirement", str(requirements)]
    result = subprocess.run(
        [*install, *where],
        env={**os.environ, **_BYTECODE},
        capture_output=True,
        text=True,
        check=False,
    )
    if result.returncode != 0:
        raise LayerNotBuilt(
            f"uv could not install {requirements} for {platform.name}; "
            f"does the package index answer?\n{result.stderr.strip()}"
        )
