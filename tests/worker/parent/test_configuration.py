"""Whether tasks can write, asked at start. As root, with the container's two users."""

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
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
CHECK = """
import json, os, pathlib, sys
from switchyard_worker.parent.configuration import check_writable

def problem_in(folder):
    try:
        environment = os.environ | {"TMPDIR": str(folder / "tmp")}
        check_writable(folder / "work" / "output", environment)
    except ValueError as problem:
        return str(problem)
    return ""

print(json.dumps([problem_in(pathlib.Path(folder)) for folder in sys.argv[1:]]))
"""


def owned_by_the_worker(folder: Path, mode: int) -> None:
    os.chown(folder, WORKER, GROUP)
    folder.chmod(mode)


def a_machine(folder: Path) -> Path:
    """Lay out the folders of the image."""
    folder.mkdir()
    folder.chmod(0o755)
    for each in ("work", "tmp"):
        (folder / each).mkdir()
    owned_by_the_worker(folder / "work", 0o755)
    (folder / "tmp").chmod(0o1777)
    return folder


def checked(*folders: Path, within: Sequence[str] = ()) -> list[str]:
    """Check as the container's worker does; return a sentence for each, or nothing."""
    ended = subprocess.run(
        [*within, "/bin/sh", ENTRYPOINT, PYTHON, "-c", CHECK, *map(str, folders)],
        cwd=REPOSITORY,
        env={**OURS, **agent_users(USERS)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (ended.returncode, ended.stderr) == (0, "")
    sentences: list[str] = json.loads(ended.stdout)
    return sentences


@pytest.fixture
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as name:  # pytest's own is closed to other users
        Path(name).chmod(0o755)
        yield Path(name)


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
def test_the_container_stops_with_a_sentence_where_its_two_users_cannot_write(
    folder: Path,
) -> None:
    image, of_root, closed, without_temporary = (
        a_machine(folder / name) for name in ("image", "of-root", "closed", "without-temporary")
    )
    os.chown(of_root / "work", 0, 0)
    owned_by_the_worker(closed / "work", 0o700)
    owned_by_the_worker(without_temporary / "tmp", 0o755)

    of_image, of_volume, of_closed, of_temporary = checked(
        image, of_root, closed, without_temporary
    )

    work = of_root / "work"
    assert of_image == ""
    assert of_volume == (
        f"OUTPUT_FOLDER is '{work}/output', where user {WORKER} cannot write (Permission denied): "
        f"{work} belongs to 0:0 and has the mode 0755; give that user the right to write there, "
        "or set OUTPUT_FOLDER to another folder"
    )
    assert f"where user {USERS[0]} cannot write" in of_closed
    assert of_temporary == ""  # the machine's own may be closed to tasks


@as_root
def test_a_read_only_file_system_calls_for_a_volume(folder: Path) -> None:
    image = a_machine(folder / "image")
    mount = f'mount -t tmpfs -o ro none "{image}/work" && exec "$@"'

    [found] = checked(image, within=["unshare", "--mount", "/bin/sh", "-c", mount, "sh"])

    assert "(Read-only file system)" in found
    assert "mount a writable volume there" in found
