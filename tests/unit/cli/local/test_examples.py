"""`examples`: what comes with Switchyard can be run by name, listed and copied."""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.unit.cli.conftest import Switchyard


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_examples_are_listed_with_what_they_are_for(switchyard: Switchyard) -> None:
    result = switchyard("examples")
    listed = [re.split(r"\s{2,}", line) for line in result.stdout.splitlines()]
    assert {name: kind for name, kind, _ in listed} == {
        "brand-analysis": "job",
        "more-paragraphs": "tasks to add",
        "proofreading": "job",
        "pull-request-review": "job",
        "repository-audit": "job",
        "research-report": "job",
        "support-triage": "job",
        "triggers": "triggers",
    }
    assert ["research-report", "job", "From a question to a checked report"] in listed


@pytest.mark.parametrize(
    ("name", "command"),
    [
        ("brand-analysis", "switchyard run brand-analysis.yaml"),
        ("more-paragraphs", "switchyard add JOB more-paragraphs.yaml"),
        ("triggers", "switchyard triggers apply triggers.yaml"),
    ],
)
def test_a_copy_names_the_command_that_takes_it(
    name: str, command: str, switchyard: Switchyard
) -> None:
    assert command in switchyard("examples", "--copy", name).stdout


@pytest.mark.parametrize("how", [(), ("--copy",)], ids=["by its name", "with --copy"])
def test_an_example_is_copied_to_be_changed(
    how: tuple[str, ...], switchyard: Switchyard, tmp_path: Path
) -> None:
    assert switchyard("examples", *how, "brand-analysis").exit_code == 0
    assert (tmp_path / "brand-analysis.yaml").read_text().startswith(("#", "name"))


def test_only_one_example_is_copied(switchyard: Switchyard, tmp_path: Path) -> None:
    result = switchyard("examples", "triggers", "--copy", "brand-analysis")
    assert result.exit_code == 2
    assert "Name one example: triggers or brand-analysis." in result.stderr
    assert not list(tmp_path.glob("*.yaml"))


@pytest.fixture
def _not_imported(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Other tests of this process import the package from its own folder."""
    monkeypatch.delitem(sys.modules, "support_triage", raising=False)
    yield
    sys.modules.pop("support_triage", None)


@pytest.mark.usefixtures("_not_imported")
def test_an_example_with_code_is_copied_as_a_folder_that_runs(
    switchyard: Switchyard, tmp_path: Path
) -> None:
    result = switchyard("examples", "support-triage")

    assert "switchyard run support-triage" in result.stdout
    assert {file.name for file in (tmp_path / "support-triage").iterdir()} == {
        "README.md",
        "job.yaml",
        "support_triage",
        "test_support_triage.py",
        "tickets.jsonl",
    }
    assert switchyard("submit", "support-triage", "--dry-run").exit_code == 0
    assert switchyard("examples", "support-triage").exit_code == 2


def test_a_copy_replaces_no_file(switchyard: Switchyard, tmp_path: Path) -> None:
    mine = tmp_path / "brand-analysis.yaml"
    mine.write_text("mine")
    assert switchyard("examples", "--copy", "brand-analysis").exit_code == 2
    assert mine.read_text() == "mine"


def test_an_unknown_example_names_the_known_ones(switchyard: Switchyard) -> None:
    result = switchyard("examples", "--copy", "novel")
    assert result.exit_code == 2
    assert "brand-analysis" in result.stderr


def test_a_job_is_found_by_the_name_of_its_example(switchyard: Switchyard) -> None:
    result = switchyard("submit", "brand-analysis", "--dry-run")
    assert result.exit_code == 0, result.stderr


def test_a_file_of_that_name_comes_first(switchyard: Switchyard, tmp_path: Path) -> None:
    (tmp_path / "brand-analysis").write_text("[]")
    result = switchyard("submit", "brand-analysis", "--dry-run")
    assert result.exit_code == 2
