"""The page of faults names a test for each of them, and every test that it names exists."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "faults.md"
FAULTS = 34


def rows() -> dict[int, str]:
    lines = PAGE.read_text().splitlines()
    found = (re.fullmatch(r"\| (\d+) \|[^|]+\|(.+)\|", line) for line in lines)
    return {int(row[1]): row[2] for row in found if row}


def test_every_fault_has_a_row_that_names_a_test_or_a_command() -> None:
    assert sorted(rows()) == list(range(1, FAULTS + 1))
    assert [number for number, shown in rows().items() if "`tests/" not in shown] == [27, 28]


def test_every_test_that_is_named_exists() -> None:
    named = re.findall(r"`(tests/[\w/.]+)(?:::(\w+))?`", PAGE.read_text())
    assert named
    for path, test in named:
        assert (ROOT / path).exists(), path
        assert not test or f"def {test}(" in (ROOT / path).read_text(), f"{path}::{test}"


def test_every_command_that_is_named_exists() -> None:
    makefile = (ROOT / "Makefile").read_text()
    for command in re.findall(r"`make ([\w-]+)`", PAGE.read_text()):
        assert re.search(rf"^{command}:", makefile, re.MULTILINE), command
