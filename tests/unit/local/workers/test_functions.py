"""The functions that the local worker serves are checked, remembered and forgotten."""

from pathlib import Path

import pytest

from switchyard_local.errors import CloudError
from switchyard_local.workers.functions import (
    add_functions,
    forget_missing,
    functions_environment,
    remember_functions,
)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "cloud" / "functions.json"


def a_package(folder: Path, name: str) -> Path:
    (folder / name).mkdir(parents=True)
    (folder / name / "__init__.py").write_text("")
    return folder / name


def test_what_was_given_last_is_served_until_something_else_is_given(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = a_package(tmp_path, "one"), a_package(tmp_path, "other")
    monkeypatch.chdir(tmp_path)

    assert functions_environment(file) == {}
    remember_functions(file, ["./one", str(other)])
    assert functions_environment(file) == {"FUNCTIONS": f"{one},{other}"}
    remember_functions(file, [])
    assert functions_environment(file) == {}


def test_a_package_that_is_gone_is_forgotten_with_a_word(file: Path, tmp_path: Path) -> None:
    one, other = a_package(tmp_path, "one"), a_package(tmp_path, "other")
    remember_functions(file, [str(one), str(other)])
    (one / "__init__.py").unlink()
    one.rmdir()
    said: list[str] = []

    forget_missing(file, said.append)

    assert said == [f"Functions are no longer served: there is no folder {one}."]
    assert functions_environment(file) == {"FUNCTIONS": str(other)}


def test_what_cannot_be_served_is_refused_and_changes_nothing(file: Path, tmp_path: Path) -> None:
    remember_functions(file, [str(a_package(tmp_path, "one"))])
    with_comma = a_package(tmp_path / "a,b", "two")

    for place, words in (("./nowhere", "there is no folder"), (str(with_comma), "has a comma")):
        with pytest.raises(CloudError, match=words):
            remember_functions(file, [place])
    assert functions_environment(file) == {"FUNCTIONS": str(tmp_path / "one")}


def test_a_run_adds_its_package_in_place_of_one_with_the_same_name(
    file: Path, tmp_path: Path
) -> None:
    one, other = a_package(tmp_path, "one"), a_package(tmp_path, "other")
    copied = a_package(tmp_path / "copy", "one")

    add_functions(file, [str(one)])
    add_functions(file, [str(other)])
    add_functions(file, [str(copied)])

    assert functions_environment(file) == {"FUNCTIONS": f"{other},{copied}"}
