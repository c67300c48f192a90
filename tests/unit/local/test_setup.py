import importlib.util
import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from switchyard_local.setup.__main__ import has_this_python, require_venv_module, steps_from
from switchyard_local.setup.errors import SetupError
from switchyard_local.setup.runner import run_step
from switchyard_local.setup.stamp import Stamp, digest_of, read_stamp, write_stamp
from switchyard_local.setup.steps import Step, package_steps

UV_PIN = "uv==0.13.7 \\\n    --hash=sha256:a1 \\\n    --hash=sha256:b2\n"
STAMP = Stamp(location="/repo/.venv", packages="pins", claude=False)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "requirements.txt").write_text(f"ruff==1\n{UV_PIN}uvicorn==2\n")
    pins = {"devDependencies": {"aws-cdk": "2.1"}}
    (tmp_path / "package.json").write_text(json.dumps(pins))
    return tmp_path


def failing(step: Step, folder: Path) -> str:
    with pytest.raises(SetupError) as error:
        run_step(step, root=folder, venv=folder / ".venv", log=folder / "setup.log")
    return str(error.value)


def python(code: str) -> list[str]:
    return [sys.executable, "-c", code]


def test_a_finished_setup_is_not_repeated() -> None:
    assert STAMP.serves(STAMP)
    assert replace(STAMP, claude=True).serves(STAMP)


def test_a_changed_pin_a_moved_folder_and_a_wish_for_claude_are() -> None:
    assert not STAMP.serves(replace(STAMP, packages="other pins"))
    assert not STAMP.serves(replace(STAMP, location="/elsewhere/.venv"))
    assert not STAMP.serves(replace(STAMP, claude=True))


def test_a_stamp_survives_the_disk_and_a_damaged_one_counts_as_none(tmp_path: Path) -> None:
    write_stamp(tmp_path / "stamp", STAMP)
    assert read_stamp(tmp_path / "stamp") == STAMP
    (tmp_path / "stamp").write_text('{"location": ')
    assert read_stamp(tmp_path / "stamp") is None


def test_the_digest_follows_the_content(tmp_path: Path) -> None:
    pins = tmp_path / "requirements.txt"
    pins.write_text("a==1")
    before = digest_of([pins])
    pins.write_text("a==2")
    assert digest_of([pins]) != before


def test_an_unfinished_environment_is_made_anew_with_the_pinned_uv(root: Path) -> None:
    first, second, *_ = steps_from(None, STAMP, root, root / ".venv")
    assert "--clear" in first.command
    assert "--require-hashes" in second.command
    assert Path(second.command[-1]).read_text() == UV_PIN


def test_a_complete_environment_is_only_updated(root: Path) -> None:
    older = replace(STAMP, packages="older pins")
    steps = steps_from(older, STAMP, root, root / ".venv")
    assert steps == package_steps(root, root / ".venv", claude=False)


def test_an_environment_of_another_python_is_told_from_one_of_this(tmp_path: Path) -> None:
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "python3.9").touch()
    assert not has_this_python(tmp_path)
    (programs / f"python3.{sys.version_info.minor}").touch()
    assert has_this_python(tmp_path)


def test_the_claude_agent_is_installed_on_request(root: Path) -> None:
    *_, last = package_steps(root, root / ".venv", claude=True)
    assert "switchyard_worker/requirements.txt" in last.command


def test_an_index_that_does_not_answer_is_named_with_the_log(tmp_path: Path) -> None:
    step = Step("Installing uv", python("raise SystemExit('no route to host')"), "pip's index")
    said = failing(step, tmp_path)
    assert "Installing uv failed. Is pip's index reachable?" in said
    assert "no route to host" in said
    assert str(tmp_path / "setup.log") in said


def test_a_full_disk_and_a_foreign_file_are_told_apart_from_it(tmp_path: Path) -> None:
    full = Step("Installing", python("raise SystemExit('No space left on device')"), "the index")
    foreign = Step("Installing", python("raise SystemExit('Permission denied')"), "the index")
    assert "The disk is full" in failing(full, tmp_path)
    assert "make the folder yours" in failing(foreign, tmp_path)


def test_a_step_that_fails_is_done_the_other_way(tmp_path: Path) -> None:
    other = Step("with pip", python("open('done', 'w')"))
    step = Step("with uv", python("raise SystemExit(1)"), otherwise=other)
    run_step(step, root=tmp_path, venv=tmp_path / ".venv", log=tmp_path / "setup.log")
    assert (tmp_path / "done").exists()


def test_a_python_without_venv_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(SetupError, match=r"sudo apt install python3\.\d+-venv"):
        require_venv_module()
