"""Whole harnesses in bad weather: whatever goes wrong, the invariants hold."""

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from tests.simulation.run import Report, simulate

ROOT = Path(__file__).parents[2]
SEEDS = (2, 5, 10, 11, 14, 23, 36)
"""Quick ones in which every fault happens; `make simulate` runs a hundred and more."""


@pytest.fixture(scope="module")
def reports() -> list[Report]:
    return [simulate(seed) for seed in SEEDS]


def test_no_invariant_is_violated(reports: list[Report]) -> None:
    assert {r.seed: list(map(str, r.violations)) for r in reports if r.violations} == {}


@pytest.mark.parametrize(
    "fault",
    [
        "KILLED by the weather",
        "KILLED after 30 s",
        "FROZEN",
        "RESUMED",
        "SIGTERM",
        "SICK",
        "WELL",
        "ORPHANED",
        "LARGE JOB",
        "✗ throttled",
        "✗ conflict",
        "✗ ConditionalCheckFailedException",
        "… answer lost",
        "… late",
        "LOST {",
        "LOST Task",
        "DEAD LETTER",
        "record failed",
        "nudge",
    ],
)
def test_each_fault_happened(fault: str, reports: list[Report]) -> None:
    assert any(fault in line for report in reports for line in report.timeline)


def test_clocks_were_minutes_off_in_some_stages_and_right_in_others(reports: list[Report]) -> None:
    wrong = {report.seed for report in reports if "clock_skew 300" in report.weather}
    assert 0 < len(wrong) < len(reports)


def test_tasks_ended_in_every_way(reports: list[Report]) -> None:
    emitted = Counter(
        event
        for report in reports
        for line in report.timeline
        for event in ("Completed", "Failed", "Timeout", "Skipped", "Processing Failed", "Released")
        if f"tell Task {event}" in line
    )
    assert all(emitted.values())
    assert len(emitted) == 6


@pytest.mark.parametrize("emitted", ["Job Tasks Added", "Task Cancelled", "Task Redriven"])
def test_jobs_were_changed_while_they_ran(emitted: str, reports: list[Report]) -> None:
    assert any(f"tell {emitted}" in line for report in reports for line in report.timeline)


def test_the_same_seed_gives_the_same_trace(reports: list[Report]) -> None:
    assert simulate(SEEDS[2]).timeline == reports[2].timeline


@pytest.mark.long
def test_another_process_gives_the_same_trace(reports: list[Report]) -> None:
    """Whatever the order of its sets."""
    command = [sys.executable, "-m", "tests.simulation", "--seed", str(SEEDS[2])]
    environment = {**os.environ, "PYTHONHASHSEED": "4711"}
    shown = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True
    )
    assert shown.stdout.splitlines()[-1] == str(reports[2])


def test_another_seed_gives_another_trace(reports: list[Report]) -> None:
    assert len({report.trace_hash for report in reports}) == len(SEEDS)
