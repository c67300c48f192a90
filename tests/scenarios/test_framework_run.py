"""`python -m switchyard_scenarios.run`: what is printed where, what is written, and the exit
code."""

import json
import tempfile
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from switchyard_scenarios import run as running
from switchyard_scenarios.harness.harness import Harness
from switchyard_scenarios.harness.place import Place
from switchyard_scenarios.harness.workers import Workers
from switchyard_scenarios.reporting.evidence import Evidence
from switchyard_scenarios.run import main
from switchyard_scenarios.scenario import Scenario
from tests.scenarios.acted import Acted, does_not_hold, holds, waits_for_ever

Captured = pytest.CaptureFixture[str]
MADE_UP: dict[str, Scenario] = {
    "good": Acted("good", holds),
    "bad": Acted("bad", does_not_hold),
    "endless": Acted("endless", waits_for_ever),
}


@pytest.fixture
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moto_place: Place) -> Path:
    """Where workers leave their logs."""
    logs = tmp_path / "logs"

    def make(**_: str) -> str:
        logs.mkdir()
        return str(logs)

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(running, "local_place", lambda *_: nullcontext(moto_place))
    monkeypatch.setattr(running, "scenarios_named", lambda names: [MADE_UP[n] for n in names])
    monkeypatch.setattr(tempfile, "mkdtemp", make)
    return logs


def test_the_last_line_counts_and_nothing_stays_when_all_pass(
    folders: Path, capsys: Captured
) -> None:
    assert main(["good"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "1 passed, 0 failed"
    assert "1 passed, 0 failed" in Path("scenarios-report.html").read_text()
    assert not folders.exists()


def test_a_failure_is_explained_and_the_logs_stay(folders: Path, capsys: Captured) -> None:
    assert main(["good", "bad", "--at-once", "2", "--report", "other.html"]) == 1
    said = capsys.readouterr()
    assert "not so: none is lost (2 of 3)" in said.out
    assert said.out.splitlines()[-1] == "1 passed, 1 failed"
    assert f"Logs and journals of the workers: {folders}" in said.err
    assert folders.exists()
    assert Path("other.html").exists()


@pytest.mark.usefixtures("folders")
def test_json_is_alone_on_its_stream(capsys: Captured) -> None:
    assert main(["good", "bad", "--json"]) == 1
    document: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert (document["passed"], document["failed"]) == (1, 1)
    assert [scenario["name"] for scenario in document["scenarios"]] == ["good", "bad"]


@pytest.mark.usefixtures("folders")
def test_what_had_ended_before_an_interruption_is_told(
    capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended: list[str] = []

    def notes_it(harness: Harness, workers: Workers, evidence: Evidence) -> None:
        holds(harness, workers, evidence)
        ended.append("good")

    monkeypatch.setitem(MADE_UP, "good", Acted("good", notes_it))
    monkeypatch.setattr(running, "interruptions", lambda: nullcontext(lambda: bool(ended)))
    assert main(["good", "endless", "bad"]) == 130
    said = capsys.readouterr()
    assert said.out.splitlines()[-1] == "1 passed, 0 failed"
    assert "Interrupted: 2 of 3 did not end." in said.err
    assert "1 passed, 0 failed" in Path("scenarios-report.html").read_text()


@pytest.mark.parametrize("report", ["nowhere/report.html", "."])
def test_a_report_that_cannot_be_written_is_refused_before_anything_runs(
    folders: Path, capsys: Captured, report: str
) -> None:
    assert main(["good", "--report", report]) == 2
    assert f"cannot be written to {report}" in capsys.readouterr().err
    assert not folders.exists()


@pytest.mark.usefixtures("folders")
def test_who_is_interrupted_is_told_so_by_the_exit_code(
    moto_place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    at_once = nullcontext(lambda: True)
    monkeypatch.setattr(running, "interruptions", lambda: at_once)
    assert main(["endless"]) == 130
    assert moto_place.client("dynamodb").list_tables()["TableNames"] == []


def test_bad_usage_ends_with_two(capsys: Captured) -> None:
    assert main(["sunshine"]) == 2
    assert main(["happy-path", "--stage", "prod"]) == 2
    said = capsys.readouterr().err
    assert "There is no scenario sunshine." in said
    assert "prod is spared" in said
