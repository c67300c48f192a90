"""The repository stays readable: plain words, short files and functions, small folders."""

import ast
import re
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).parents[2]
MAX_LINES: Final = 300
MAX_FUNCTION_LINES: Final = 40
MAX_FILES: Final = 25
PLAIN: Final = (
    "layers",
    "lambdas",
    "stacks",
    "switchyard_cli",
    "switchyard_local",
    "switchyard_scenarios",
    "switchyard_worker",
    "benchmarks",
    "examples",
    "docs",
    "README.md",
)
"""Source, help and pages that must not contain any of the words."""
WORDS: Final = re.compile(
    r"\b(told|put aside|whoever|somebody|lookout|reteller|AlertBook|SlackDoor|SlackDesk|"
    r"KeptLetters?|QuarantinedMessage|UndeliverableKeeper|usecases\.letters|contracts\.kept)\b"
)
GERUNDS: Final = re.compile(r"(telling|braking|spanning|counting|sweeping|redriving|advancing)")
WORDS_STILL_USED: Final = frozenset(
    {
        "docs/deploy.md",  # the upgrade note names the old words
    }
)
"""Files that have to name a word."""
DANGLING: Final = (
    *("Of", "Those", "As", "Its", "Whose", "Whom", "Whoever"),
    *("Told", "Likewise", "Such", "They", "That"),
)
"""Words that begin half a sentence: the other half is in the reader's mind, or nowhere."""
DANGLING_START: Final = re.compile(rf"\s*({'|'.join(DANGLING)})\b")
DANGLING_SOURCE: Final = re.compile(rf"[\"']{DANGLING_START.pattern}")
LONG_FUNCTIONS: Final = frozenset(
    {
        "tests/security/growth.py:_schema_families",
    }
)
"""Functions that are still too long."""
LARGE_FOLDERS: Final = frozenset(
    {
        "docs",
        "docs/decisions",
    }
)
"""Folders that still have too many files, and the decision records, one file each."""


def _sources(suffix: str) -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files", f"*{suffix}"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if listed.returncode:
        pytest.skip("the sources are not in a git repository")
    return [ROOT / line for line in listed.stdout.splitlines() if (ROOT / line).is_file()]


def _name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def words_in_use() -> Iterator[str]:
    for path in (*_sources(".py"), *_sources(".md")):
        parts = path.relative_to(ROOT).parts
        if parts[0] in PLAIN and "decisions" not in parts and WORDS.search(path.read_text("utf-8")):
            yield _name(path)


def long_files() -> Iterator[str]:
    for path in _sources(".py"):
        if len(path.read_text("utf-8").splitlines()) > MAX_LINES:
            yield _name(path)


def statements(node: ast.AST) -> Iterator[ast.AST]:
    """Yield all below a node that may contain a definition, which no expression does."""
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.expr):
            yield child
            yield from statements(child)


def long_functions() -> Iterator[str]:
    for path in _sources(".py"):
        text = path.read_text("utf-8")
        if text.count("\n") <= MAX_FUNCTION_LINES:
            continue
        for node in statements(ast.parse(text)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                lines = (node.end_lineno or node.lineno) - node.lineno + 1
                if lines > MAX_FUNCTION_LINES:
                    yield f"{_name(path)}:{node.name}"


def docstrings(text: str) -> Iterator[tuple[int, str]]:
    """Yield the line and the text of each string that is a statement, also one below a field."""
    for node in statements(ast.parse(text)):
        match node:
            case ast.Expr(value=ast.Constant(value=str() as docstring), lineno=line):
                yield line, docstring


def dangling_docstrings() -> Iterator[str]:
    for path in _sources(".py"):
        text = path.read_text("utf-8")
        if not DANGLING_SOURCE.search(text):
            continue
        for line, docstring in docstrings(text):
            if DANGLING_START.match(docstring):
                yield f"{_name(path)}:{line}: {docstring.strip().splitlines()[0]}"


def large_folders() -> Iterator[str]:
    counts = Counter(_name(path.parent) for path in _sources(""))
    yield from (folder for folder, count in counts.items() if count > MAX_FILES)


def test_words_of_a_private_vocabulary_do_not_return() -> None:
    assert sorted(set(words_in_use()) - WORDS_STILL_USED) == []


def test_a_docstring_that_begins_in_the_middle_of_a_sentence_is_found() -> None:
    text = 'class A:\n    """A thing."""\n    b: int\n    """\n    Of a thing."""\n'
    assert [line for line, found in docstrings(text) if DANGLING_START.match(found)] == [4]


def test_every_docstring_begins_a_sentence() -> None:
    assert sorted(dangling_docstrings()) == []


def test_no_module_of_the_layer_is_named_after_a_gerund_of_mood() -> None:
    names = [_name(path) for path in _sources(".py") if path.is_relative_to(ROOT / "layers")]
    assert [name for name in names if GERUNDS.fullmatch(Path(name).stem)] == []


def test_no_file_is_too_long() -> None:
    assert sorted(long_files()) == []


def test_no_function_is_too_long() -> None:
    assert sorted(set(long_functions()) - LONG_FUNCTIONS) == []


def test_no_folder_has_too_many_files() -> None:
    assert sorted(set(large_folders()) - LARGE_FOLDERS) == []
