"""Names of files and the patterns by which tasks ask for them."""

import time

import pytest

from switchyard.domain.jobs.files import (
    MAX_PATTERN_CHARACTERS,
    FileReference,
    first_conflict,
    job_file_matches,
    matches,
    may_be_below,
    name_problem,
    pattern_problem,
    unmatched,
)


@pytest.mark.parametrize(
    ("name", "pattern", "meant"),
    [
        ("report.md", "report.md", True),
        ("report.md", "*.md", True),
        ("report.md", "report.??", True),
        ("report.md", "*", True),
        ("report.md", "*.pdf", False),
        ("Report.md", "report.md", False),
        ("charts/a.png", "*", False),
        ("charts/a.png", "*.png", False),
        ("charts/a.png", "charts/*.png", True),
        ("charts/a.png", "*/a.png", True),
        ("charts/a.png", "**", True),
        ("charts/x/a.png", "**", True),
        ("a.png", "**/a.png", True),
        ("charts/x/a.png", "charts/**/a.png", True),
        ("charts/a.png", "charts/**/a.png", True),
        ("other/a.png", "charts/**/a.png", False),
        ("charts", "charts/**", False),
        ("a[1].txt", "a[1].txt", True),
        ("a1.txt", "a[1].txt", False),
    ],
)
def test_a_wildcard_stays_in_its_folder_and_two_are_any_folders(
    name: str, pattern: str, *, meant: bool
) -> None:
    assert matches(name, pattern) is meant


def test_the_output_is_meant_by_its_own_name_alone() -> None:
    assert not matches("task-result.json", "*")
    assert not matches("task-result.json", "**")
    assert matches("task-result.json", "task-result.json")
    assert unmatched(["*.json"], ["task-result.json"]) == ["*.json"]


def test_a_file_of_the_job_may_be_named_without_its_ending() -> None:
    assert job_file_matches("brief.pdf", "brief")
    assert job_file_matches("brief.pdf", "brie*")
    assert not job_file_matches("brief.pdf", "brief.md")
    assert not job_file_matches("brief.tar.gz", "brief")
    assert FileReference.parse("job/brief").among(["a.txt", "brief.pdf"]) == ["brief.pdf"]
    assert FileReference.parse("draft/brief").among(["brief.pdf"]) == []


@pytest.mark.parametrize(
    "pattern",
    [
        "",
        "/etc/passwd",
        "../x",
        "a/../b",
        "a//b",
        "./a",
        "a/",
        "a\\b",
        "a\nb",
        "a\x00",
        "**/**",
        "a**",
        "x" * (MAX_PATTERN_CHARACTERS + 1),
    ],
)
def test_a_pattern_that_is_no_path_below_a_folder_is_refused(pattern: str) -> None:
    assert pattern_problem(pattern)
    with pytest.raises(ValueError, match=r"pattern|names no file|path|\*\*"):
        FileReference.parse(f"job/{pattern}")


@pytest.mark.parametrize("text", ["brief", "/brief", "job/", ""])
def test_a_reference_names_where_its_file_comes_from(text: str) -> None:
    with pytest.raises(ValueError, match="write job/NAME"):
        FileReference.parse(text)


@pytest.mark.parametrize(
    "name", ["../x", "a/../../x", "/x", "a//b", ".", "", "x\n", "x\u202e", "x" * 256, "a/" * 400]
)
def test_a_file_with_a_dangerous_name_is_not_placed(name: str) -> None:
    assert name_problem(name)


def test_a_name_of_ordinary_letters_is_placed() -> None:
    assert name_problem("charts/größe 1.png") is None


def test_a_name_that_is_a_file_and_a_folder_is_found() -> None:
    assert first_conflict(["a/b", "a/c", "d"]) is None
    assert first_conflict(["a/b/c", "a/b"]) == "a/b"


def test_no_pattern_takes_long_to_match() -> None:
    """A name of an agent and a pattern of a tenant may be made to fit badly."""
    began = time.process_time()
    for _ in range(200):
        assert not matches("a" * 255 + "b", "*a" * 99 + "c")
        assert not matches("a/" * 340 + "b", "**/" + "*/" * 60 + "c")
    assert time.process_time() - began < 5


@pytest.mark.parametrize(
    ("folder", "pattern", "expected"),
    [
        ("0", "0/a.md", True),
        ("0", "*/a.md", True),
        ("0", "1/a.md", False),
        ("0", "a.md", False),
        ("0", "0", False),
        ("0", "**/a.md", True),
        ("0", "0/**", True),
        ("0", "1/**", False),
        ("a/0", "a/**", True),
        ("a/0", "a/0/b/**", True),
        ("a/0", "b/**/x", False),
        ("a/0", "a/*/x", True),
        ("a/0", "a/x", False),
    ],
)
def test_folders_that_a_pattern_cannot_mean_are_not_listed(
    folder: str, pattern: str, expected: bool
) -> None:
    assert may_be_below(folder, pattern) is expected
