"""Images built by buildah, in a storage of their own that goes with the check."""

import json
import shutil
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from tests.image.commands import CommandFailed, output_of
from tests.image.deployment import Asset

SUITE: Final = "trixie"  # the first Debian release with Python 3.13
BASE_PACKAGES: Final = "python3,python3-pip,ca-certificates"
NO_APT_CACHES: Final = (
    'DPkg::Post-Invoke {"rm -f /var/cache/apt/archives/*.deb || true";}',
    'Dir::Cache::pkgcache ""',
    'Dir::Cache::srcpkgcache ""',
)
"""The settings of Debian's own images, so that the size is comparable."""
PATH: Final = "/usr/local/bin:/usr/local/sbin:/usr/sbin:/usr/bin:/sbin:/bin"
IMAGE: Final = "localhost/switchyard-worker"


class Images:
    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._storage = folder / "storage"
        self._storage.mkdir(parents=True)

    def make_base(self, name: str) -> None:
        """Make a Debian with Python 3.13, under the name of the base image that it stands for."""
        archive = self._folder / "base.tar"
        options = ["--quiet", "--variant=minbase", f"--include={BASE_PACKAGES}"]
        apt = [f"--aptopt={setting}" for setting in NO_APT_CACHES]
        output_of(["mmdebstrap", *options, *apt, SUITE, archive])
        container = self._buildah("from", "scratch")
        self._buildah("add", "--quiet", container, str(archive), "/")
        root = Path(self._buildah("mount", container))
        (root / "usr/local/bin/python").symlink_to("/usr/bin/python3")
        for mark in root.glob("usr/lib/python3*/EXTERNALLY-MANAGED"):
            mark.unlink()
        self._buildah("umount", container)
        self._buildah("config", "--env", f"PATH={PATH}", container)
        self._buildah("commit", "--quiet", "--rm", container, name)
        archive.unlink()

    def build(self, asset: Asset, *, platform: str, volumes: Sequence[str]) -> None:
        mounted = [argument for volume in volumes for argument in ("--volume", volume)]
        options = ["--pull-never", "--network", "host", "--platform", platform]
        self._buildah(
            "build",
            *options,
            *("--format", "docker"),  # OCI's own knows no HEALTHCHECK
            *mounted,
            *("--file", str(asset.folder / asset.dockerfile), "--tag", IMAGE, str(asset.folder)),
        )

    def mount(self) -> Path:
        """Return the root file system of a container of the image."""
        return Path(self._buildah("mount", self._buildah("from", "--pull-never", IMAGE)))

    def configuration(self) -> dict[str, Any]:
        """Return entry point, command, variables, volumes and health check of the image."""
        found = json.loads(self._buildah("inspect", "--type", "image", IMAGE))
        configuration: dict[str, Any] = found["Docker"]["config"]
        return configuration

    def size(self, name: str = IMAGE) -> str:
        return self._buildah("images", "--format", "{{.Size}}", name)

    def remove(self) -> None:
        """Unmount and delete everything; nothing here is needed any more."""
        for command in (("umount", "--all"), ("rm", "--all"), ("rmi", "--all", "--force")):
            with suppress(CommandFailed):
                self._buildah(*command)
        overlay = self._storage / "root" / "overlay"
        subprocess.run(["umount", "--lazy", overlay], capture_output=True, check=False)
        shutil.rmtree(self._storage, ignore_errors=True)

    def _buildah(self, *arguments: str) -> str:
        places = ["--root", str(self._storage / "root"), "--runroot", str(self._storage / "run")]
        return output_of(["buildah", *places, "--storage-driver", "overlay", *arguments])
