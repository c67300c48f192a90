from pathlib import Path

import pytest

from switchyard_local.sources import fingerprint

NAMES = ("app.py", "stacks")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "stacks").mkdir()
    (tmp_path / "app.py").write_text("app")
    (tmp_path / "stacks" / "one.py").write_text("one")
    return tmp_path


def test_the_same_sources_have_the_same_fingerprint(root: Path) -> None:
    assert fingerprint(root, NAMES) == fingerprint(root, NAMES)


def test_a_changed_file_changes_it(root: Path) -> None:
    before = fingerprint(root, NAMES)
    (root / "stacks" / "one.py").write_text("two")
    assert fingerprint(root, NAMES) != before


def test_a_new_an_empty_and_a_renamed_file_change_it(root: Path) -> None:
    seen = {fingerprint(root, NAMES)}
    (root / "stacks" / "empty.py").touch()
    seen.add(fingerprint(root, NAMES))
    (root / "stacks" / "empty.py").rename(root / "stacks" / "other.py")
    seen.add(fingerprint(root, NAMES))
    assert len(seen) == 3


def test_bytecode_and_files_outside_do_not(root: Path) -> None:
    before = fingerprint(root, NAMES)
    (root / "README.md").write_text("words")
    (root / "stacks" / "__pycache__").mkdir()
    (root / "stacks" / "__pycache__" / "one.cpython-311.pyc").write_text("compiled")
    assert fingerprint(root, NAMES) == before


def test_a_fact_beside_the_sources_changes_it(root: Path) -> None:
    assert fingerprint(root, NAMES, "4580") != fingerprint(root, NAMES, "4581")


def test_a_missing_source_is_no_error(root: Path) -> None:
    assert fingerprint(root, (*NAMES, "nowhere"))
