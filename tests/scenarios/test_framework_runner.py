"""The runner: which scenarios pass, what is printed, and that nothing stays behind."""

import io
import signal
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from switchyard.adapters.system import SystemClock
from switchyard.testing import ManualClock
from switchyard_scenarios.harness.harness import Harness
from switchyard_scenarios.harness.names import Names
from switchyard_scenarios.harness.place import Place
from switchyard_scenarios.harness.removal import sweep
from switchyard_scenarios.harness.workers import Workers
from switchyard_scenarios.reporting.evidence import Evidence
from switchyard_scenarios.reporting.live_table import Lines, LiveTable, a_board
from switchyard_scenarios.reporting.results import last_line, reported
from switchyard_scenarios.runner import Runner, interruptions
from tests.scenarios.acted import (
    Act,
    Acted,
    checks_nothing,
    does_not_hold,
    gives_up,
    has_a_bug,
    holds,
    waits_for_ever,
)


@pytest.fixture
def runner(moto_place: Place, tmp_path: Path) -> Runner:
    return Runner(place=moto_place, folder=tmp_path, say=lambda _: None)


def left_in(place: Place) -> list[str]:
    queues = place.client("sqs").list_queues().get("QueueUrls", [])
    buses = place.client("events").list_event_buses(NamePrefix="scenarios-")["EventBuses"]
    buckets = place.client("s3").list_buckets()["Buckets"]
    return [
        *(url.rpartition("/")[2] for url in queues),
        *place.client("dynamodb").list_tables()["TableNames"],
        *(bus["Name"] for bus in buses),
        *(bucket["Name"] for bucket in buckets),
    ]


@pytest.mark.parametrize(
    ("act", "reason"),
    [
        (holds, ""),
        (
            does_not_hold,
            "not so: none is lost (2 of 3); not so: none is there twice (4)",
        ),
        (checks_nothing, "it checked nothing"),
        (gives_up, "not within 3 s: the queue is empty"),
        (has_a_bug, "ZeroDivisionError: by zero"),
    ],
)
def test_only_what_checked_something_and_held_passes(runner: Runner, act: Act, reason: str) -> None:
    result = runner.run(Acted("one", act))
    assert (result.passed, result.reason) == (not reason, reason)
    assert left_in(runner.place) == []


def test_what_is_kept_all_has_the_name_that_is_told(moto_place: Place, tmp_path: Path) -> None:
    said: list[str] = []
    keeping = Runner(place=moto_place, folder=tmp_path, say=said.append, keep=True)
    keeping.run(Acted("one", holds))
    prefix = said[0].rpartition(" ")[2]
    left = left_in(moto_place)
    assert len(left) == 9
    assert all(name.startswith(prefix) for name in left)


def test_what_was_left_behind_is_removed_after_an_hour(moto_place: Place, runner: Runner) -> None:
    replace(runner, keep=True).run(Acted("one", holds))
    now = ManualClock(SystemClock().now_ms())
    assert sweep(moto_place, now) == []
    now.advance(3_700)
    assert len(sweep(moto_place, now)) == 1
    assert left_in(moto_place) == []


def test_the_files_of_a_stage_go_with_it(moto_place: Place, runner: Runner) -> None:
    def leaves_files(harness: Harness, _: Workers, evidence: Evidence) -> None:
        s3 = moto_place.client("s3")
        s3.put_object(Bucket=harness.names.bucket, Key="parked/tasks/1.json", Body=b"{}")
        evidence.check("it is parked", harness.parked() == ["parked/tasks/1.json"])

    assert runner.run(Acted("one", leaves_files)).passed
    assert left_in(moto_place) == []


def test_who_is_interrupted_waits_no_longer_and_leaves_nothing(runner: Runner) -> None:
    interrupted = replace(runner, place=replace(runner.place, interrupted=lambda: True))
    with pytest.raises(KeyboardInterrupt):
        interrupted.run(Acted("one", waits_for_ever))
    assert left_in(runner.place) == []


def test_being_told_to_stop_is_remembered_for_who_asks_and_then_as_before() -> None:
    before = signal.getsignal(signal.SIGTERM)
    with interruptions() as interrupted:
        assert not interrupted()
        signal.raise_signal(signal.SIGTERM)
        assert interrupted()
    assert signal.getsignal(signal.SIGTERM) is before


def test_a_defect_is_known_to_the_stage_and_takes_the_redrive_away(runner: Runner) -> None:
    def looks(harness: Harness, _: Workers, evidence: Evidence) -> None:
        sqs = runner.place.client("sqs")
        asked = {"QueueUrl": harness.queue_url, "AttributeNames": ["All"]}
        redriven = "RedrivePolicy" in sqs.get_queue_attributes(**asked)["Attributes"]
        evidence.check("it has a redrive policy", redriven, shown=harness.planted)

    assert runner.run(Acted("one", looks)).passed
    assert runner.run(Acted("one", looks)).evidence.checks[0].shown == ""
    planted = replace(runner, planted="no-redrive").run(Acted("one", looks))
    assert planted.reason == "not so: it has a redrive policy (no-redrive)"


def test_results_come_in_the_order_asked_for_and_each_is_told(runner: Runner) -> None:
    lines: list[str] = []
    scenarios = [Acted("first", holds), Acted("second", does_not_hold), Acted("third", gives_up)]
    results = runner.run_all(scenarios, Lines(lines.append), at_once=1)
    assert [result.name for result in results] == ["first", "second", "third"]
    assert last_line(results) == "1 passed, 2 failed"
    assert lines[0].startswith("PASS  first")
    assert lines[0].endswith("1 of 1 checks, sent 3")
    assert "      not so: none is there twice (4)" in lines
    assert "      not within 3 s: the queue is empty" in lines


def test_machines_are_told_every_check_and_figure(runner: Runner) -> None:
    results = runner.run_all([Acted("first", holds)], Lines(lambda _: None), at_once=2)
    document = reported(results, stage="local").model_dump(mode="json", by_alias=True)
    assert (document["passed"], document["failed"]) == (1, 0)
    [scenario] = document["scenarios"]
    assert scenario["counts"] == {"sent": 3}
    assert scenario["checks"] == [{"sentence": "all is well", "held": True, "shown": "3 of 3"}]
    assert [note["label"] for note in scenario["notes"]] == ["the harness is there"]


def test_a_terminal_shows_a_table_with_every_scenario(runner: Runner) -> None:
    screen = io.StringIO()
    console = Console(file=screen, force_terminal=True, width=200)
    scenarios = [Acted("first", holds, title="First"), Acted("second", gives_up, title="Second")]
    with a_board(console, scenarios) as board:
        assert isinstance(board, LiveTable)
        runner.run_all(scenarios, board, at_once=1)
    last = screen.getvalue().rpartition("First")[2]
    assert "PASS" in last
    assert "FAIL" in last
    assert "not within 3 s" in last


def test_a_terminal_shows_how_far_a_scenario_is() -> None:
    scenario, evidence = Acted("first", holds, title="First"), Evidence(ManualClock(0))
    table = LiveTable([scenario])
    table.begins(scenario, evidence)
    evidence.note("it all waits")
    evidence.measure("waiting", 12)
    evidence.measure("dead letters", 0)
    screen = io.StringIO()
    Console(file=screen, width=200).print(table)
    shown = " ".join(screen.getvalue().split())
    assert shown.endswith("1 First runs 0.0 s it all waits, 12 waiting")


def test_names_of_stages_are_told_from_others() -> None:
    names = Names.numbered(0xABCDEF)
    assert names.prefix == "scenarios-abcdef-"
    assert Names.of_the_harness_with("scenarios-abcdef-dead-letters") == names
    assert Names.of_the_harness_with("scenarios-abcdef-tasks") is None
    assert Names.of_the_harness_with("scenarios-mine-dead-letters") is None
