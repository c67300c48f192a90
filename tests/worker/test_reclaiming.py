"""Files that the agent's user kept to itself, opened to the worker. No change of user is needed."""

import os
import stat
from pathlib import Path
from typing import Any

import pytest

from tests.worker.yard import WorkerYard
from worker import reclaiming
from worker.group_access import open_to_group
from worker.reclaiming import reclaim

CHANGES_NO_USER = '#!/bin/sh\nwhile [ "$1" != "--" ]; do shift; done; shift; exec "$@"\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A private file in a private folder."""
    folder = tmp_path / "attempt"
    (folder / "private").mkdir(parents=True)
    (folder / "private" / "file").write_text("x")
    (folder / "private" / "file").chmod(0o600)
    (folder / "private").chmod(0o700)
    return folder


@pytest.fixture
def warnings(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What each said went wrong."""
    told: list[Any] = []

    def warning(_message: str, *, extra: dict[str, Any]) -> None:
        told.append(extra["error"])

    monkeypatch.setattr(reclaiming.logger, "warning", warning)
    return told


def host(tmp_path: Path, setpriv: str, **variables: str) -> dict[str, str]:
    """With another `setpriv`."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "setpriv").write_text(setpriv)
    (tmp_path / "bin" / "setpriv").chmod(0o755)
    path = f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}"
    return {"PATH": path, "AGENT_USER": "1002:1000"} | variables


def mode(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


def test_the_group_may_do_what_the_owner_may(
    folder: Path, tmp_path: Path, warnings: list[Any]
) -> None:
    reclaim(folder, host(tmp_path, CHANGES_NO_USER))

    assert mode(folder / "private") == 0o770
    assert mode(folder / "private" / "file") == 0o660
    assert not warnings


def test_without_an_agents_user_nothing_is_touched(folder: Path, tmp_path: Path) -> None:
    reclaim(folder, host(tmp_path, CHANGES_NO_USER, AGENT_USER=""))

    assert mode(folder / "private") == 0o700


def test_a_folder_that_its_owner_closed_to_itself_is_opened_before_it_is_walked(
    folder: Path,
) -> None:
    (folder / "private").chmod(0)

    assert not open_to_group(folder)

    assert mode(folder / "private") == 0o770
    assert mode(folder / "private" / "file") == 0o660


def test_a_program_stays_one_and_others_get_nothing(folder: Path) -> None:
    (folder / "private" / "file").chmod(0o711)

    open_to_group(folder)

    assert mode(folder / "private" / "file") == 0o771


def test_links_are_not_followed(folder: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir(mode=0o700)
    (outside / "file").touch(mode=0o600)
    (folder / "to-folder").symlink_to(outside)
    (folder / "to-file").symlink_to(outside / "file")
    (tmp_path / "to-all").symlink_to(outside)

    assert not open_to_group(folder)
    open_to_group(tmp_path / "to-all")

    assert (mode(outside), mode(outside / "file")) == (0o700, 0o600)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_what_belongs_to_somebody_else_is_left_and_is_no_problem(folder: Path) -> None:
    os.chown(folder / "private" / "file", 1001, 1000)

    assert not open_to_group(folder)

    assert mode(folder / "private" / "file") == 0o600


@pytest.mark.parametrize(
    ("setpriv", "reason"),
    [
        ("#!/bin/sh\necho not permitted >&2; exit 127\n", "not permitted"),
        ("#!/bin/sh\nexit 3\n", "exit code 3"),
    ],
)
def test_a_failure_is_told_and_changes_nothing_else(
    setpriv: str, reason: str, folder: Path, tmp_path: Path, warnings: list[Any]
) -> None:
    reclaim(folder, host(tmp_path, setpriv))

    (told,) = warnings
    assert reason in told


def test_a_machine_without_the_means_is_told(
    folder: Path, tmp_path: Path, warnings: list[Any]
) -> None:
    reclaim(folder, {"PATH": str(tmp_path), "AGENT_USER": "1002:1000"})

    (told,) = warnings
    assert "setpriv" in told


def test_it_ends_when_its_time_is_over(folder: Path, tmp_path: Path, warnings: list[Any]) -> None:
    reclaim(folder, host(tmp_path, "#!/bin/sh\nexec sleep 60\n"), max_seconds=0)

    (told,) = warnings
    assert "timed out" in told


def test_what_it_cannot_open_is_told_without_its_name(
    folder: Path, tmp_path: Path, warnings: list[Any]
) -> None:
    reclaim(folder / "sk-secret", host(tmp_path, CHANGES_NO_USER))

    assert warnings == ["1 stay closed, the first for: No such file or directory"]


def test_it_learns_nothing_of_the_workers_environment(
    folder: Path, tmp_path: Path, warnings: list[Any]
) -> None:
    seen = tmp_path / "seen"
    reclaim(folder, host(tmp_path, f"#!/bin/sh\nenv > {seen}\n", AWS_SECRET="canary"))

    assert "canary" not in seen.read_text()
    assert not warnings


def test_a_folder_is_reclaimed_before_it_is_removed_though_the_lease_is_lost(
    yard: WorkerYard, monkeypatch: pytest.MonkeyPatch
) -> None:
    found: list[bool] = []

    def reclaim(folder: Path, _host: dict[str, str]) -> None:
        found.append(folder.is_dir())

    monkeypatch.setattr("worker.attempt.reclaim", reclaim)
    yard.configure(delete_files_after_upload=True)
    yard.add_task(given={"offline": {"delayMs": 60_000}})

    def lost() -> bool:
        if yard.told:
            yard.change("a", owner="another", fence=9)
        return bool(yard.told) and not list(yard.folder.iterdir())

    yard.work(until=lost)

    assert found == [True]
