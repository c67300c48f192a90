"""Whether tasks can write, asked at start. As root, with the container's two users."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from switchyard_worker.parent.configuration import NotWritable, check_writable
from tests.worker.parent.files.test_users_in_a_container import ENTRYPOINT, GROUP, OURS, WORKER
from tests.worker.task_users import agent_users, task_users
from tests.worker.test_main import REPOSITORY

USERS = task_users(4)
PYTHON = Path("/usr/bin/python3")  # that of a virtual environment is often closed to others
as_root = pytest.mark.skipif(
    os.geteuid() != 0 or shutil.which("setpriv") is None or not PYTHON.exists(),
    reason="only root can change users",
)
CHECK = (
    "import os, sys, pathlib\n"
    "from switchyard_worker.parent.configuration import check_writable\n"
    "try: check_writable(pathlib.Path(os.environ['OUTPUT_FOLDER']), os.environ)\n"
    "except ValueError as problem: sys.exit(str(problem))\n"
)


@pytest.fixture
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as name:  # pytest's own is closed to other users
        folder = Path(name)
        folder.chmod(0o755)
        for each in ("work", "tmp"):
            (folder / each).mkdir()
        owned_by_the_worker(folder / "work", 0o755)
        (folder / "tmp").chmod(0o1777)
        yield folder


def owned_by_the_worker(folder: Path, mode: int) -> None:
    os.chown(folder, WORKER, GROUP)
    folder.chmod(mode)


def started(folder: Path, *first: str) -> str:
    """Check as the container's worker does; return the sentence, or nothing."""
    ended = subprocess.run(
        [*first, "/bin/sh", ENTRYPOINT, PYTHON, "-c", CHECK],
        cwd=REPOSITORY,
        env={
            **OURS,
            **agent_users(USERS),
            "TMPDIR": str(folder / "tmp"),
            "OUTPUT_FOLDER": str(folder / "work" / "output"),
        },
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ended.returncode in {0, 1}, ended.stderr
    assert bool(ended.stderr) == bool(ended.returncode)
    return ended.stderr.strip()


def test_where_both_can_write_nothing_is_left_behind(tmp_path: Path) -> None:
    check_writable(tmp_path / "output", {"TMPDIR": str(tmp_path)})
    assert [path.name for path in tmp_path.rglob("*")] == ["output"]


def test_a_file_in_the_folders_place_is_named(tmp_path: Path) -> None:
    (tmp_path / "output").touch()
    with pytest.raises(NotWritable, match="remove the file in its place"):
        check_writable(tmp_path / "output", {"TMPDIR": str(tmp_path)})
    with pytest.raises(NotWritable, match=r"TMPDIR is '.*/output', where user \d+ cannot write"):
        check_writable(tmp_path, {"TMPDIR": str(tmp_path / "output")})


def test_a_link_that_leads_nowhere_is_named(tmp_path: Path) -> None:
    (tmp_path / "output").symlink_to("nowhere")
    with pytest.raises(NotWritable, match=r"OUTPUT_FOLDER is '.*/output'"):
        check_writable(tmp_path / "output", {"TMPDIR": str(tmp_path)})


@as_root
def test_the_containers_two_users_find_the_folders_of_the_image_writable(folder: Path) -> None:
    assert started(folder) == ""


@as_root
def test_a_volume_that_is_roots_stops_the_worker_with_a_sentence(folder: Path) -> None:
    os.chown(folder / "work", 0, 0)

    work = folder / "work"
    assert started(folder) == (
        f"OUTPUT_FOLDER is '{work}/output', where user {WORKER} cannot write (Permission denied): "
        f"{work} belongs to 0:0 and has the mode 0755; give that user the right to write there, "
        "or set OUTPUT_FOLDER to another folder"
    )


@as_root
def test_a_folder_that_no_task_can_reach_stops_the_worker(folder: Path) -> None:
    owned_by_the_worker(folder / "work", 0o700)

    assert f"where user {USERS[0]} cannot write" in started(folder)


@as_root
def test_the_machines_temporary_folder_may_be_closed_to_tasks(folder: Path) -> None:
    owned_by_the_worker(folder / "tmp", 0o755)

    assert started(folder) == ""


@as_root
def test_a_read_only_file_system_calls_for_a_volume(folder: Path) -> None:
    mount = f'mount -t tmpfs -o ro none "{folder}/work" && exec "$@"'

    found = started(folder, "unshare", "--mount", "/bin/sh", "-c", mount, "sh")

    assert "(Read-only file system)" in found
    assert "mount a writable volume there" in found
