"""Scenarios with real worker processes: the whole framework holds together."""

from pathlib import Path

from switchyard_scenarios.harness.place import Place
from switchyard_scenarios.runner import Runner
from switchyard_scenarios.scenario import scenario_named


def test_a_message_that_a_killed_worker_held_is_finished_by_another(
    place: Place, tmp_path: Path
) -> None:
    said: list[str] = []
    runner = Runner(place=place, folder=tmp_path, say=said.append)
    result = runner.run(scenario_named("crash-mid-processing"))
    assert result.reason == ""
    assert result.passed
    assert result.evidence.counts["held by it"] > 0
    labels = {note.label for note in result.evidence.figures}
    assert {"waiting", "in flight", "completed", "workers"} <= labels
    assert place.client("dynamodb").list_tables()["TableNames"] == []
