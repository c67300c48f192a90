"""What a function finds of the files that its task is given."""

from pathlib import Path

import pytest

from switchyard.functions import FunctionsError, input_file, input_files


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("job/brief.pdf", "draft/a.md", "draft/deep/b.md"):
        path = tmp_path / "inputs" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    return tmp_path / "inputs"


def test_files_are_found_by_patterns_in_the_order_of_their_names(folder: Path) -> None:
    assert input_files("draft/*.md") == [folder / "draft/a.md"]
    assert input_files("draft/**/*.md") == [folder / "draft/a.md", folder / "draft/deep/b.md"]
    assert len(input_files()) == 3
    assert input_files("other/*") == []


def test_one_file_is_found_with_and_without_its_ending(folder: Path) -> None:
    assert input_file("job/brief") == input_file("job/brief.pdf") == folder / "job/brief.pdf"


def test_no_file_or_several_are_refused() -> None:
    with pytest.raises(FunctionsError, match="0 files match 'job/plan' in inputs, not one"):
        input_file("job/plan")
    with pytest.raises(FunctionsError, match="2 files match"):
        input_file("draft/**/*.md")
