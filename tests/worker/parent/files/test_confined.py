"""Files below a folder that a hostile program may change; with and without the kernel's help."""

import errno
import os
import socket
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from switchyard_worker.parent.files import confined
from switchyard_worker.parent.files.confined import (
    NotReadable,
    create_file,
    open_beneath,
    read_bounded,
)

OWNERS = {os.geteuid()}


@pytest.fixture(params=["openat2", "by component", "refused by a filter"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    refusals = {"by component": errno.ENOSYS, "refused by a filter": errno.EPERM}
    if request.param in refusals:

        def openat2(folder: int, name: str, flags: int, mode: int) -> int:
            raise OSError(refusals[request.param], "no such call")

        monkeypatch.setattr(confined, "openat2", openat2)
    return str(request.param)


@pytest.fixture
def folder(tmp_path: Path, way: str) -> Path:
    folder = tmp_path / "folder"
    (folder / "below").mkdir(parents=True)
    (folder / "below" / "file").write_text("content")
    (tmp_path / "secret").write_text("canary")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "file").write_text("canary")
    return folder


@pytest.fixture
def descriptor(folder: Path) -> Iterator[int]:
    descriptor = os.open(folder, os.O_RDONLY)
    yield descriptor
    os.close(descriptor)


def read(descriptor: int, name: str, *, max_bytes: int = 100) -> bytes:
    return read_bounded(descriptor, name, max_bytes=max_bytes, owners=OWNERS)


def test_an_ordinary_file_is_read(descriptor: int) -> None:
    assert read(descriptor, "below/file") == b"content"


@pytest.mark.parametrize(
    "name", ["../secret", "/etc/passwd", "below/../../secret", ".", "a//b", ""]
)
def test_a_name_that_leads_out_is_refused(descriptor: int, name: str) -> None:
    with pytest.raises(NotReadable):
        read(descriptor, name)


def test_a_link_at_the_end_is_not_followed(folder: Path, descriptor: int) -> None:
    (folder / "link").symlink_to("../secret")
    (folder / "harmless").symlink_to("below/file")
    for name in ("link", "harmless"):
        with pytest.raises(NotReadable):
            read(descriptor, name)


def test_a_link_in_the_middle_is_not_followed(folder: Path, descriptor: int) -> None:
    (folder / "link").symlink_to("../outside")
    (folder / "self").symlink_to("/proc/self")
    for name in ("link/file", "self/environ", "self/root/etc/passwd"):
        with pytest.raises(NotReadable):
            read(descriptor, name)


@pytest.mark.usefixtures("way")
@pytest.mark.skipif(sys.platform != "linux", reason="there is no /proc")
def test_another_file_system_is_not_entered() -> None:
    root = os.open("/", os.O_RDONLY)
    try:
        with pytest.raises(OSError, match="cross-device"):
            open_beneath(root, "proc/uptime", os.O_RDONLY)
    finally:
        os.close(root)


def test_a_hard_link_is_not_read(folder: Path, descriptor: int) -> None:
    os.link(folder.parent / "secret", folder / "link")
    with pytest.raises(NotReadable, match="has other names"):
        read(descriptor, "link")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_a_file_of_another_user_is_not_read(folder: Path, descriptor: int) -> None:
    os.chown(folder / "below" / "file", 64_000, 64_000)
    with pytest.raises(NotReadable, match="belongs to another user"):
        read(descriptor, "below/file")


def test_nothing_but_ordinary_files_is_read(
    folder: Path, descriptor: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.mkfifo(folder / "pipe")
    with socket.socket(socket.AF_UNIX) as listening:
        monkeypatch.chdir(folder)  # the name of a socket has to be short
        listening.bind("socket")
    for name in ("pipe", "socket", "below"):
        with pytest.raises(NotReadable):
            read(descriptor, name)


def test_no_more_is_read_than_allowed(descriptor: int) -> None:
    assert read(descriptor, "below/file", max_bytes=7) == b"content"
    with pytest.raises(NotReadable, match="larger than 6 bytes"):
        read(descriptor, "below/file", max_bytes=6)


def test_what_is_not_there_is_not_found(descriptor: int) -> None:
    for name in ("nothing", "nothing/file"):
        with pytest.raises(FileNotFoundError):
            read(descriptor, name)


def test_nothing_that_exists_is_written_to(folder: Path, descriptor: int) -> None:
    (folder / "link").symlink_to("../secret")
    (folder / "logs").symlink_to("../outside")
    for name in ("below/file", "link", "logs/stdout.log"):
        with pytest.raises(OSError, match=r"exists|symbolic|Not a directory"):
            create_file(descriptor, name)
    assert (folder.parent / "secret").read_text() == "canary"
    assert not (folder.parent / "outside" / "stdout.log").exists()


def test_a_new_file_is_its_owners_alone(folder: Path, descriptor: int) -> None:
    os.close(create_file(descriptor, "below/new"))
    assert (folder / "below" / "new").stat().st_mode & 0o077 == 0
