"""The runner of the documentation finds what readers would stumble over."""

from pathlib import Path

import pytest

from tests.docs.masks import masked
from tests.docs.pages import ROOT, Block, blocks_of, commands_of
from tests.docs.shell import lay_out, problems_with


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    return lay_out(tmp_path, cloud=tmp_path)


def a_block(text: str, **marks: str) -> Block:
    return Block(ROOT / "README.md", 1, "console", text, marks)


def test_a_command_that_fails_is_reported_with_its_place(clone: Path) -> None:
    (problem,) = problems_with([a_block("true\nls missing\ntrue\n")], clone)

    assert problem.startswith("README.md:1: `ls missing` exits with 2")


def test_what_follows_a_failure_is_not_run(clone: Path) -> None:
    problems_with([a_block("false\n"), a_block("touch made\n")], clone)

    assert not (clone / "made").exists()


def test_a_failure_that_is_announced_has_to_happen(clone: Path) -> None:
    assert not problems_with([a_block("false\n", run="fails"), a_block("true\n")], clone)
    assert problems_with([a_block("true\n", run="fails")], clone)


def test_a_block_that_needs_an_account_is_not_run(clone: Path) -> None:
    assert not problems_with([a_block("false\n", run="needs-aws")], clone)


def test_variables_and_files_stay_for_the_blocks_that_follow(clone: Path) -> None:
    saved = Block(ROOT / "README.md", 1, "yaml", "a: 1\n", {"file": "a.yaml"})
    blocks = [a_block("JOB=$(echo 7)\n"), saved, a_block("test $JOB = 7 && cat a.yaml\n")]

    assert not problems_with(blocks, clone)


def test_output_is_compared_where_a_page_says_so(clone: Path) -> None:
    shown = "$ echo took 3.1 s\ntook 0.4 s\n"

    assert not problems_with([a_block(shown, output="compared")], clone)
    assert problems_with([a_block(shown.replace("took 0", "wait 0"), output="compared")], clone)
    assert not problems_with([a_block(shown.replace("took 0", "wait 0"))], clone)


def test_a_target_that_make_does_not_have_is_a_failure(clone: Path) -> None:
    assert not problems_with([a_block("make up\n")], clone)
    assert problems_with([a_block("make it-so\n")], clone)


def test_a_command_may_have_several_lines() -> None:
    (command, other) = commands_of(a_block("echo a \\\n  b\n# a comment\necho c\n"))

    assert (command.text, other.text) == ("echo a \\\n  b", "echo c")


def test_a_mark_belongs_to_the_block_below_it(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "<!-- run: needs-aws -->\n```console\na\n```\n\n<!-- run: fails -->\n\n```sh\nb\n```\n"
    )

    marked, other = blocks_of(page)

    assert (marked.marks, marked.runs) == ({"run": "needs-aws"}, False)
    assert (other.marks, other.runs) == ({}, True)


def test_two_runs_look_the_same_once_masked() -> None:
    one = ["  12.5 s  shop processing", "  13.0 s  job completed", "  /a b/worker/output/x__y/3"]
    other = ["   2.1 s  job completed", "  .switchyard/worker/output/x__y/12", ""]

    assert masked(one) == masked(other)


def test_a_state_that_passes_quickly_is_not_compared() -> None:
    assert masked(["    1.4 s  job partial_failure", "    1.4 s  job failed"]) == masked(
        ["    3.0 s  job failed"]
    )
