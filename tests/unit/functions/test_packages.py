"""Packages are found without being imported, and identified by their content."""

import sys
from collections.abc import Callable, Iterator
from importlib.metadata import EntryPoint
from pathlib import Path
from uuid import uuid4

import pytest

from switchyard.functions import packages
from switchyard.functions.errors import FunctionsError, NotFound
from switchyard.functions.loading import function_named, load, tasks_in
from switchyard.functions.packages import Package, all_located, content_hash, located, stamp_of

TEXT = """
from switchyard.functions import task
from {name}.words import parted

@task(retries=0)
def split(text: str) -> list[str]:
    return parted(text)
"""
WORDS = "def parted(text: str) -> list[str]:\n    return text.split()\n"

Write = Callable[..., Package]


@pytest.fixture
def write(tmp_path: Path) -> Iterator[Write]:
    """Write a package with a name of its own, and forget it afterwards."""
    names: list[str] = []

    def write(folder: str = "one", name: str = "", **files: str) -> Package:
        name = name or f"functions_{uuid4().hex}"
        names.append(name)
        place = tmp_path / folder / name
        place.mkdir(parents=True)
        given = {"__init__": "", "text": TEXT.format(name=name), "words": WORDS} | files
        for module, text in given.items():
            (place / f"{module}.py").write_text(text)
        return located(str(place))

    yield write
    for name in [*sys.modules]:
        if name.partition(".")[0] in names:
            del sys.modules[name]


def test_the_same_files_have_the_same_hash_anywhere(write: Write) -> None:
    one = write("one")
    other = write("other", one.name)

    assert content_hash(one) == content_hash(other)
    assert len(content_hash(one)) == packages.HASH_CHARACTERS


def test_every_file_counts_but_what_python_and_editors_leave(write: Write) -> None:
    package = write()
    before, stamp = content_hash(package), stamp_of(package)

    (package.path / "__pycache__").mkdir()
    (package.path / "__pycache__" / "text.pyc").write_bytes(b"compiled")
    (package.path / ".hidden").write_text("a")
    assert (content_hash(package), stamp_of(package)) == (before, stamp)

    (package.path / "words.txt").write_text("data")
    assert content_hash(package) != before
    assert stamp_of(package) != stamp


def test_bytes_that_move_from_one_file_to_the_next_change_the_hash(write: Write) -> None:
    one = write("one", a="x", b="yz")
    other = write("other", one.name, a="xy", b="z")

    assert content_hash(one) != content_hash(other)


def test_finding_and_hashing_runs_nothing(write: Write) -> None:
    package = write(__init__="raise SystemExit('was imported')")

    assert content_hash(package)
    assert package.name not in sys.modules


def test_too_many_files_or_bytes_are_refused(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    package = write()
    monkeypatch.setattr(packages, "MAX_FILES", 2)

    with pytest.raises(FunctionsError, match="more than 2 files or 20 MB"):
        content_hash(package)


def test_a_folder_that_is_linked_in_is_refused(write: Write, tmp_path: Path) -> None:
    package = write()
    (package.path / "more").symlink_to(tmp_path)

    with pytest.raises(FunctionsError, match="is a link to a folder"):
        content_hash(package)


@pytest.mark.parametrize(
    ("where", "words"),
    [
        ("./nowhere", "there is no folder"),
        ("no_such_package", "there is no package 'no_such_package'"),
        ("no-name", "neither a folder nor the name of a package"),
        ("sys", "is not a package of Python files"),
    ],
)
def test_what_is_not_there_is_refused_in_a_sentence(where: str, words: str) -> None:
    with pytest.raises(FunctionsError, match=words):
        located(where)


def test_a_folder_that_is_no_package_is_refused(tmp_path: Path) -> None:
    (tmp_path / "plain").mkdir()
    (tmp_path / "two words").mkdir()

    with pytest.raises(FunctionsError, match=r"it has no __init__\.py"):
        located(str(tmp_path / "plain"))
    with pytest.raises(FunctionsError, match="'two words' is not a Python name"):
        located(str(tmp_path / "two words"))


def test_an_installed_package_is_found_by_its_entry_point(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = write()
    point = EntryPoint(name="any", value=f"{package.name}:x", group=packages.GROUP)
    monkeypatch.setattr(packages, "entry_points", lambda group: [point])
    monkeypatch.syspath_prepend(package.path.parent)

    assert all_located([]) == [package]
    assert all_located([str(package.path)]) == [package]


def test_two_packages_of_one_name_are_refused(write: Write) -> None:
    one = write("one")
    other = write("other", one.name)

    with pytest.raises(FunctionsError, match="two packages are called"):
        all_located([str(one.path), str(other.path)])


def test_a_package_is_imported_from_its_folder_without_changing_the_path(write: Write) -> None:
    package, before = write(), [*sys.path]

    function = function_named(package, f"{package.name}.text:split")

    assert function("a b") == ["a", "b"]
    assert load(package) is sys.modules[package.name]
    assert sys.path == before


@pytest.mark.parametrize(
    ("reference", "words"),
    [
        ("{}.text:splits", "has no function 'splits' that @task marks; did you mean 'split'?"),
        ("{}.words:parted", "has no function 'parted' that @task marks"),
        ("{}.texts:split", "has no module"),
    ],
)
def test_a_function_that_is_not_there_is_refused(write: Write, reference: str, words: str) -> None:
    package = write()

    with pytest.raises(NotFound, match=words):
        function_named(package, reference.format(package.name))


def test_every_marked_function_is_found_where_it_is_defined(write: Write) -> None:
    package = write(
        __init__="from .text import split",
        again="from switchyard.functions import task\n"
        "@task(name='both')\ndef join(texts: list[str]) -> str: ...",
    )

    found = tasks_in(package)

    assert [(task.options.name, task.reference) for task in found] == [
        ("both", f"{package.name}.again:join"),
        ("split", f"{package.name}.text:split"),
    ]


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({"text": "", "__init__": ""}, "has no function that @task marks"),
        ({"again": "import no_such_module"}, "cannot be imported: ModuleNotFoundError"),
        ({"again": "1 // 0"}, "cannot be imported: ZeroDivisionError"),
        ({"again": TEXT.replace("{name}", "text") + "oops("}, "cannot be imported: SyntaxError"),
        (
            {"again": "from switchyard.functions import task\n@task\ndef split(): ..."},
            "two functions are called 'split'",
        ),
        (
            {"again": "from switchyard.functions import task\n@task(timeout='x')\ndef a(): ..."},
            "is not a time limit",
        ),
    ],
)
def test_a_package_that_cannot_be_pushed_says_why(
    write: Write, files: dict[str, str], words: str
) -> None:
    with pytest.raises(FunctionsError, match=words):
        tasks_in(write(**files))


def test_a_module_of_one_file_is_a_package_too(tmp_path: Path) -> None:
    name = f"functions_{uuid4().hex}"
    file = tmp_path / f"{name}.py"
    file.write_text("from switchyard.functions import task\n@task\ndef split(): return 1\n")
    package = located(str(file))

    assert [task.reference for task in tasks_in(package)] == [f"{name}:split"]
    assert content_hash(package)
    del sys.modules[name]
