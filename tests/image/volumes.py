"""Volumes filled as Fargate fills them, at their most reluctant.

A volume is root's with the mode 0755. If the image declares a VOLUME at the same path, the folder's
content is copied, with owners and modes; an empty folder is taken as nothing to copy.
https://docs.aws.amazon.com/AmazonECS/latest/developerguide/bind-mounts.html
"""

import os
import shutil
import stat
from collections.abc import Container
from pathlib import Path


def fargate_volume(volume: Path, path: str, *, root: Path, declared: Container[str]) -> Path:
    """Make the folder `volume`, as what a container of the image in `root` finds at `path`."""
    empty_volume(volume)
    source = root / path.lstrip("/")
    if path in declared and source.is_dir() and any(source.iterdir()):
        shutil.copytree(source, volume, symlinks=True, dirs_exist_ok=True)
        for copied in (volume, *volume.rglob("*")):
            _as_in_the_image(copied, source / copied.relative_to(volume))
    return volume


def empty_volume(volume: Path) -> Path:
    """Make the folder `volume` as it is when nothing is copied."""
    volume.mkdir()
    os.chown(volume, 0, 0)
    volume.chmod(0o755)
    return volume


def _as_in_the_image(copied: Path, source: Path) -> None:
    status = source.lstat()
    os.chown(copied, status.st_uid, status.st_gid, follow_symlinks=False)
    if not stat.S_ISLNK(status.st_mode):
        copied.chmod(stat.S_IMODE(status.st_mode))
