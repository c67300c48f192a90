"""Trees of files that were made to be hard to walk, to count and to remove."""

import math
import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from switchyard_worker.parent.files.trees import (
    MAX_DEPTH,
    Bounds,
    NotRemoved,
    empty_folder,
    usage_of,
    walk,
)
from switchyard_worker.parent.files.users import SlotUser, files_as


def bounds(*, entries: int = 1_000_000, seconds: float = 60) -> Bounds:
    return Bounds(entries=entries, ends_at=time.monotonic() + seconds, monotonic=time.monotonic)


@pytest.fixture
def top(tmp_path: Path) -> Iterator[int]:
    (tmp_path / "top").mkdir()
    descriptor = os.open(tmp_path / "top", os.O_RDONLY)
    yield descriptor
    os.close(descriptor)


def nest(top: int, depth: int, name: str = "d") -> None:
    """Make the folders in steps, since the whole name is longer than a name may be."""
    here = os.dup(top)
    for _ in range(depth):
        os.mkdir(name, dir_fd=here)
        below = os.open(name, os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.close(os.open("file", os.O_CREAT | os.O_WRONLY, dir_fd=here))
    os.close(here)


def emptied(top: int, *, seconds: float = 60) -> bool:
    try:
        empty_folder(top, ends_at=time.monotonic() + seconds, monotonic=time.monotonic)
    except NotRemoved:
        return False
    with os.scandir(top) as left:
        return not list(left)


def test_a_walk_names_what_is_below_and_follows_no_link(top: int, tmp_path: Path) -> None:
    folder = tmp_path / "top"
    (folder / "a" / "b").mkdir(parents=True)
    (folder / "a" / "b" / "file").touch()
    (folder / "link").symlink_to("/proc/self")
    assert {entry.name for entry in walk(top, bounds())} == {"a", "a/b", "a/b/file", "link"}


def test_a_walk_ends_at_its_bounds_and_says_which(top: int) -> None:
    nest(top, 2 * MAX_DEPTH)
    deep, wide, late = bounds(), bounds(entries=10), bounds(seconds=-1)
    assert len(list(walk(top, deep))) == MAX_DEPTH + 1
    assert len(list(walk(top, wide))) == 10
    assert not list(walk(top, late))
    assert (deep.exceeded, wide.exceeded, late.exceeded) == ("depth", "entries", "time")


def test_an_abandoned_walk_leaves_no_descriptor_open(top: int) -> None:
    nest(top, 50)
    before = len(list(Path("/dev/fd").iterdir()))
    walking = walk(top, bounds())
    for _ in range(30):
        next(walking)
    walking.close()  # type: ignore[attr-defined]
    assert len(list(Path("/dev/fd").iterdir())) == before


def test_space_is_counted_by_what_the_disk_holds(top: int, tmp_path: Path) -> None:
    file = tmp_path / "top" / "file"
    file.write_bytes(os.urandom(1_000_000))
    with (tmp_path / "top" / "sparse").open("wb") as sparse:
        sparse.truncate(10**12)
    os.link(file, tmp_path / "top" / "same")
    os.sync()
    used = usage_of(top, bounds())
    assert 1_000_000 <= used.bytes < 1_100_000
    assert used.files == 3


def test_nothing_is_hidden_in_a_folder_that_is_closed_to_its_owner(
    top: int, tmp_path: Path
) -> None:
    (tmp_path / "top" / "closed").mkdir()
    (tmp_path / "top" / "closed" / "file").touch()
    (tmp_path / "top" / "closed").chmod(0)
    assert usage_of(top, bounds()).files == 2


@pytest.mark.parametrize("depth", [1_500, pytest.param(5_000, marks=pytest.mark.long)])
def test_nested_folders_are_removed(top: int, depth: int) -> None:
    nest(top, depth)
    assert emptied(top)


def test_nested_folders_with_the_longest_names_are_removed(top: int) -> None:
    nest(top, 300, "d" * 255)
    assert emptied(top)


def test_names_of_any_kind_are_removed(top: int) -> None:
    for name in (b"two\nlines", b"\xff\xfe", b".moved-1", b" ", b"-rf", b"\x1b[2J"):
        os.mkdir(name, dir_fd=top)
        os.close(os.open(name + b"/\xff", os.O_CREAT | os.O_WRONLY, dir_fd=top))
        os.mkdir(name + b"/.moved-2", dir_fd=top)
        os.mkdir(name + b"/.moved-2/x", dir_fd=top)
    assert emptied(top)


@pytest.mark.parametrize("mode", [0, 0o1777, 0o500, 0o3711])
def test_the_mode_of_a_folder_protects_nothing(top: int, tmp_path: Path, mode: int) -> None:
    (tmp_path / "top" / "a" / "b" / "c").mkdir(parents=True)
    (tmp_path / "top" / "a" / "b" / "file").touch(mode=0)
    for name in ("a/b/c", "a/b", "a"):
        (tmp_path / "top" / name).chmod(mode)
    assert emptied(top)


def test_links_are_removed_and_what_they_lead_to_stays(top: int, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir(mode=0o750)
    (tmp_path / "outside" / "file").touch()
    (tmp_path / "top" / "link").symlink_to(tmp_path / "outside")
    assert emptied(top)
    assert (tmp_path / "outside" / "file").exists()
    assert (tmp_path / "outside").stat().st_mode & 0o777 == 0o750


def test_thousands_of_files_are_removed(top: int) -> None:
    os.mkdir("wide", dir_fd=top)
    wide = os.open("wide", os.O_RDONLY, dir_fd=top)
    for number in range(10_000):
        os.mknod(str(number), dir_fd=wide)
    os.close(wide)
    assert emptied(top)


def test_a_removal_without_time_says_so(top: int) -> None:
    nest(top, 3)
    assert not emptied(top, seconds=-1)
    with pytest.raises(NotRemoved, match="the time is over"):
        empty_folder(top, ends_at=-math.inf, monotonic=time.monotonic)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can have tasks of other users")
def test_closed_folders_of_other_tasks_protect_nothing(top: int, tmp_path: Path) -> None:
    first, second = (SlotUser(57_000 + os.getpid() % 3_000 + number) for number in range(2))
    here = tmp_path / "top"
    os.chown(here, first.id, first.id)
    folders = []
    for user in (second, first, second, second, first):
        here /= "inner"
        here.mkdir()
        (here / "file").touch()
        os.chown(here / "file", user.id, user.id)
        os.chown(here, user.id, user.id)
        folders.append(here)
    for mode, folder in zip((0, 0o1777, 0o555, 0, 0), reversed(folders), strict=True):
        folder.chmod(mode)
    with files_as(first):
        assert emptied(top)
