"""The sources that an installed package deploys."""

from pathlib import Path

import pytest

from switchyard_local import source_tree
from switchyard_local.source_tree import default_folder, up_to_date_copy


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    sources = tmp_path / "packaged"
    (sources / "lambdas" / "__pycache__").mkdir(parents=True)
    (sources / "app.py").write_text("first")
    return sources


def test_sources_are_copied_without_what_python_compiled(sources: Path, tmp_path: Path) -> None:
    copy = up_to_date_copy(sources, tmp_path / "copy")
    assert (copy / "app.py").read_text() == "first"
    assert not (copy / "lambdas" / "__pycache__").exists()


def test_a_copy_that_is_up_to_date_stays_with_what_was_written_beside_it(
    sources: Path, tmp_path: Path
) -> None:
    copy = up_to_date_copy(sources, tmp_path / "copy")
    (copy / "cache").write_text("")
    assert (up_to_date_copy(sources, tmp_path / "copy") / "cache").exists()


def test_another_version_of_the_package_is_copied_anew(sources: Path, tmp_path: Path) -> None:
    up_to_date_copy(sources, tmp_path / "copy")
    (sources / "app.py").write_text("second")
    assert (up_to_date_copy(sources, tmp_path / "copy") / "app.py").read_text() == "second"


def test_a_copy_that_was_cut_short_is_made_anew(sources: Path, tmp_path: Path) -> None:
    (tmp_path / "copy.new").mkdir()
    (tmp_path / "copy.new" / "half").write_text("")
    copy = up_to_date_copy(sources, tmp_path / "copy")
    assert not (copy / "half").exists()


def test_an_installed_package_has_its_data_where_it_is_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(source_tree, "INSTALLED", True)
    monkeypatch.chdir(tmp_path)
    assert default_folder() == tmp_path / ".switchyard"


def test_a_variable_names_another_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SWITCHYARD_FOLDER", "/srv/cloud")
    assert default_folder() == Path("/srv/cloud")
