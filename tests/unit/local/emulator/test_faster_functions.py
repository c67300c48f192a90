"""MiniStack's processes of functions, which share the folders of their code and layers."""

import shutil
import tempfile
import zipfile
from pathlib import Path

import pytest
from ministack.core import lambda_runtime

from switchyard_local.emulator.faster_functions import speed_up_functions


@pytest.fixture(autouse=True)
def faster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lambda_runtime, "zipfile", zipfile)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    speed_up_functions()


def unpack(process: Path, **content: str) -> Path:
    """Unpack a layer as MiniStack does for each process that it starts."""
    process.mkdir()
    archive, folder = process / "layer_0.zip", process / "layer_0"
    with zipfile.ZipFile(archive, "w") as written:
        for name, text in content.items():
            written.writestr(zipfile.ZipInfo(f"python/{name}.py"), text)
    folder.mkdir()
    with lambda_runtime.zipfile.ZipFile(archive) as read:
        read.extractall(folder)
    return folder


def test_bytecode_that_one_process_wrote_is_there_for_the_next(tmp_path: Path) -> None:
    first = unpack(tmp_path / "first", module="x = 1")
    (first / "python" / "module.pyc").write_bytes(b"compiled")

    second = unpack(tmp_path / "second", module="x = 1")

    assert (second / "python" / "module.py").read_text() == "x = 1"
    assert (second / "python" / "module.pyc").read_bytes() == b"compiled"


def test_another_content_has_a_folder_of_its_own(tmp_path: Path) -> None:
    first = unpack(tmp_path / "first", module="x = 1")
    second = unpack(tmp_path / "second", module="x = 2")

    assert (first / "python" / "module.py").read_text() == "x = 1"
    assert (second / "python" / "module.py").read_text() == "x = 2"


def test_the_end_of_one_process_takes_nothing_from_another(tmp_path: Path) -> None:
    unpack(tmp_path / "first", module="x = 1")
    second = unpack(tmp_path / "second", module="x = 1")

    shutil.rmtree(tmp_path / "first")

    assert (second / "python" / "module.py").read_text() == "x = 1"


def test_errors_of_archives_are_those_that_ministack_catches() -> None:
    assert lambda_runtime.zipfile.BadZipFile is zipfile.BadZipFile
