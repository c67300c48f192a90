"""`health`: what runs, the worst first, and whether somebody should look."""

import json
from typing import Any

import pytest

from switchyard.domain.errors import Unavailable
from switchyard.domain.tasks.task import Lease
from tests.unit.cli.conftest import Switchyard
from tests.unit.cli.fakes.task_checker import FakeTaskChecker

MINUTE = 60.0


@pytest.fixture
def stuck(task_checker: FakeTaskChecker) -> Lease:
    """The first of two tasks; the other is well."""
    stuck, well = task_checker.harness.start(), task_checker.harness.start()
    task_checker.harness.clock.advance(11 * MINUTE)
    task_checker.harness.beat(well)
    task_checker.harness.clock.advance(30)
    return stuck


def test_the_worst_comes_first_with_its_times_and_its_worker(
    switchyard: Switchyard, stuck: Lease
) -> None:
    result = switchyard("health")

    _, first, second, summary = result.stdout.splitlines()
    assert first.split("  ")[0] == "critical"
    assert stuck.ref.request_id in first
    for reported in ("11 min 30 s", "11 min 30 s ago", "worker-1", "no sign of life for 11 min"):
        assert reported in first
    assert second.startswith("healthy")
    assert "30.0 s ago" in second
    assert summary == "2 tasks are being processed: 1 critical, 1 healthy."
    assert result.exit_code == 1


def test_where_nothing_runs_all_is_well(
    switchyard: Switchyard, task_checker: FakeTaskChecker
) -> None:
    result = switchyard("health", "--stage", "dev")

    assert result.stdout == "No task is being processed.\n"
    assert result.exit_code == 0
    assert task_checker.asked == [("dev", False)]


@pytest.mark.parametrize(
    ("signs", "word", "code"),
    [
        ({}, "healthy", 0),
        ({"repeats": 10}, "not progressing", 1),
        ({"activity_at_ms": 1}, "overtime", 1),
    ],
)
def test_what_a_person_should_look_at_ends_in_one(
    switchyard: Switchyard,
    task_checker: FakeTaskChecker,
    signs: dict[str, Any],
    word: str,
    code: int,
) -> None:
    lease = task_checker.harness.start(timeout=1_000)
    task_checker.harness.clock.advance(62 if word == "overtime" else 5)
    task_checker.harness.beat(lease, **signs)

    result = switchyard("health")

    assert result.stdout.splitlines()[1].startswith(word)
    assert f"1 task is being processed: 1 {word}." in result.stdout
    assert result.exit_code == code


def test_a_delayed_sign_of_life_is_shown_and_no_failure(
    switchyard: Switchyard, task_checker: FakeTaskChecker
) -> None:
    task_checker.harness.start()
    task_checker.harness.clock.advance(6 * MINUTE)

    result = switchyard("health")

    assert "warning" in result.stdout
    assert result.exit_code == 0


def test_one_task_is_asked_for_by_its_request_id(switchyard: Switchyard, stuck: Lease) -> None:
    result = switchyard("health", stuck.ref.request_id, "--json")

    reported = json.loads(result.stdout)
    assert [task["requestId"] for task in reported["tasks"]] == [stuck.ref.request_id]
    assert reported["tasks"][0]["health"] == "critical"
    assert reported["summary"]["totalProcessing"] == 1
    assert result.exit_code == 1


def test_the_health_of_one_is_not_that_of_another(switchyard: Switchyard, stuck: Lease) -> None:
    tasks = json.loads(switchyard("health", "--json").stdout)["tasks"]
    [well] = [t["requestId"] for t in tasks if t["requestId"] != stuck.ref.request_id]

    assert switchyard("health", well).exit_code == 0


def test_a_task_that_does_not_run_is_bad_input(switchyard: Switchyard, stuck: Lease) -> None:
    result = switchyard("health", f"{stuck.ref.job_id}__b\x1b[2J")

    assert result.stderr.startswith("No task 'job-")
    assert "is being processed." in result.stderr
    assert "\x1b" not in result.stderr
    assert result.exit_code == 2


def test_a_stage_that_is_out_of_reach(
    switchyard: Switchyard, task_checker: FakeTaskChecker
) -> None:
    task_checker.outage = Unavailable("You must specify a region.")

    result = switchyard("health", "--stage", "prod")

    assert result.stderr.startswith("The tasks of the stage prod are out of reach: You must")
    assert result.exit_code == 3


def test_code_that_no_worker_serves_is_named_and_ends_in_one(
    switchyard: Switchyard, task_checker: FakeTaskChecker
) -> None:
    harness = task_checker.harness
    lease = harness.start(
        kind="code", tag=None, description=None, function="my_functions:a", code_hash="ab12" * 16
    )
    harness.memory.leases.release(
        lease, not_before_ms=0, now_ms=harness.clock.now_ms(), give_attempt_back=True
    )
    harness.clock.advance(11 * MINUTE)

    result = switchyard("health")

    assert result.exit_code == 1
    assert "No worker serves my_functions@ab12ab12ab12: waiting, 1 task for up to" in result.stdout
    assert json.loads(switchyard("health", "--json").stdout)["unserved"][0]["tasks"] == 1
