"""How running tasks are judged, at each limit and a millisecond to either side of it."""

from dataclasses import replace
from typing import Any

import pytest

from switchyard.domain.health.health import (
    ENDING_MS,
    CheckedTask,
    Health,
    HealthLimits,
    HealthReport,
    OwnLimits,
    check_task,
    worst_first,
)
from switchyard.domain.states import TaskState
from switchyard.domain.tasks.task import LifeSigns, Task
from tests.builders import NOW_MS, a_task

MINUTE = 60_000
STAGE = HealthLimits()
OWN = OwnLimits(
    silent_warning_ms=10_000,
    silent_critical_ms=20_000,
    overtime_ms=90_000,
    progress_ms=30_000,
    repeats=3,
)
ITS_OWN = OWN.within(STAGE, timeout_ms=None)


def running(
    *, elapsed: int, silent: int | None = None, unchanged: int | None = None, repeats: int = 0
) -> Task:
    """Return a task as it is at `NOW_MS`; without `silent` it has not been renewed yet."""
    signs = None
    if silent is not None:
        signs = LifeSigns(
            beat_at_ms=NOW_MS - silent,
            activity="sdk_query:plan",
            activity_at_ms=NOW_MS - (silent if unchanged is None else unchanged),
            repeats=repeats,
        )
    return a_task(
        state=TaskState.PROCESSING,
        owner="worker-1/7",
        started_at_ms=NOW_MS - elapsed,
        signs=signs,
    )


def health(task: Task, limits: HealthLimits = STAGE, *, now_ms: int = NOW_MS) -> Health:
    return check_task(task, limits, now_ms=now_ms).health


@pytest.mark.parametrize(
    ("limits", "silent", "expected"),
    [
        (STAGE, 0, Health.HEALTHY),
        (STAGE, 5 * MINUTE - 1, Health.HEALTHY),
        (STAGE, 5 * MINUTE, Health.HEALTHY),
        (STAGE, 5 * MINUTE + 1, Health.WARNING),
        (STAGE, 10 * MINUTE - 1, Health.WARNING),
        (STAGE, 10 * MINUTE, Health.WARNING),
        (STAGE, 10 * MINUTE + 1, Health.CRITICAL),
        (ITS_OWN, 9_999, Health.HEALTHY),
        (ITS_OWN, 10_000, Health.HEALTHY),
        (ITS_OWN, 10_001, Health.WARNING),
        (ITS_OWN, 19_999, Health.WARNING),
        (ITS_OWN, 20_000, Health.WARNING),
        (ITS_OWN, 20_001, Health.CRITICAL),
    ],
)
@pytest.mark.parametrize("renewed", [True, False], ids=["renewed", "just started"])
def test_silence_counts_from_the_last_renewal_or_else_from_the_start(
    limits: HealthLimits, silent: int, expected: Health, *, renewed: bool
) -> None:
    task = running(elapsed=30_000 + silent, silent=silent) if renewed else running(elapsed=silent)
    checked = check_task(task, replace(limits, overtime_ms=MINUTE * 60), now_ms=NOW_MS)
    assert (checked.health, checked.silent_ms) == (expected, silent)


@pytest.mark.parametrize(
    ("limits", "most"),
    [
        (STAGE, 60 * MINUTE),
        (ITS_OWN, 90_000),
        (OwnLimits().within(STAGE, timeout_ms=None), 60 * MINUTE),
        (OwnLimits().within(STAGE, timeout_ms=300_000), 300_000 + ENDING_MS),
        (OwnLimits(overtime_ms=40_000).within(STAGE, timeout_ms=300_000), 40_000),
        (OwnLimits().within(HealthLimits(overtime_ms=7_000), timeout_ms=None), 7_000),
    ],
    ids=["stage", "its own", "nobody says", "timeout", "its own before timeout", "other stage"],
)
@pytest.mark.parametrize(
    ("past", "expected"), [(-1, Health.HEALTHY), (0, Health.HEALTHY), (1, Health.OVERTIME)]
)
def test_it_is_overtime_beyond_its_limit(
    limits: HealthLimits, most: int, past: int, expected: Health
) -> None:
    checked = check_task(running(elapsed=most + past, silent=0), limits, now_ms=NOW_MS)
    assert (checked.health, checked.elapsed_ms) == (expected, most + past)


@pytest.mark.parametrize(("limits", "most"), [(STAGE, 15 * MINUTE), (ITS_OWN, 30_000)])
@pytest.mark.parametrize(
    ("past", "expected"), [(-1, Health.HEALTHY), (0, Health.HEALTHY), (1, Health.NOT_PROGRESSING)]
)
def test_who_beats_but_does_the_same_for_too_long_makes_no_progress(
    limits: HealthLimits, most: int, past: int, expected: Health
) -> None:
    assert health(running(elapsed=most + 10, silent=0, unchanged=most + past), limits) is expected


def test_who_beats_but_never_says_what_it_does_makes_no_progress_either() -> None:
    task = running(elapsed=15 * MINUTE + 1)
    assert health(replace(task, signs=LifeSigns(beat_at_ms=NOW_MS))) is Health.NOT_PROGRESSING


@pytest.mark.parametrize(
    ("limits", "repeats", "expected"),
    [
        (STAGE, 9, Health.HEALTHY),
        (STAGE, 10, Health.NOT_PROGRESSING),
        (STAGE, 11, Health.NOT_PROGRESSING),
        (ITS_OWN, 2, Health.HEALTHY),
        (ITS_OWN, 3, Health.NOT_PROGRESSING),
        (ITS_OWN, 4, Health.NOT_PROGRESSING),
    ],
)
def test_who_repeats_a_call_too_often_makes_no_progress(
    limits: HealthLimits, repeats: int, expected: Health
) -> None:
    assert health(running(elapsed=9_000, silent=0, repeats=repeats), limits) is expected


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        ({"elapsed": 600 * MINUTE, "silent": 11 * MINUTE, "repeats": 99}, Health.CRITICAL),
        ({"elapsed": 600 * MINUTE, "silent": 6 * MINUTE, "repeats": 99}, Health.OVERTIME),
        ({"elapsed": 600 * MINUTE, "silent": 0, "unchanged": 500 * MINUTE}, Health.OVERTIME),
        ({"elapsed": 50 * MINUTE, "silent": 6 * MINUTE, "repeats": 99}, Health.WARNING),
        ({"elapsed": 50 * MINUTE, "silent": 5 * MINUTE, "repeats": 99}, Health.NOT_PROGRESSING),
    ],
    ids=lambda value: value.value if isinstance(value, Health) else "",
)
def test_of_several_classes_the_worst_counts(facts: dict[str, Any], expected: Health) -> None:
    assert health(running(**facts)) is expected


@pytest.mark.parametrize(
    ("jump", "expected"),
    [
        (-600 * MINUTE, Health.HEALTHY),
        (-1, Health.HEALTHY),
        (0, Health.HEALTHY),
        (6 * MINUTE, Health.WARNING),
        (11 * MINUTE, Health.CRITICAL),
        (-11 * MINUTE, Health.HEALTHY),
    ],
)
def test_a_clock_that_jumps_back_finds_nothing_and_remembers_nothing_of_a_jump_ahead(
    jump: int, expected: Health
) -> None:
    task = running(elapsed=MINUTE, silent=0)
    checked = check_task(task, STAGE, now_ms=NOW_MS + jump)
    assert checked.health is expected
    assert checked.elapsed_ms >= 0
    assert checked.silent_ms >= 0
    assert health(task) is Health.HEALTHY


def test_a_worker_whose_clock_is_ahead_has_just_been_heard() -> None:
    ahead = check_task(running(elapsed=MINUTE, silent=-600 * MINUTE), STAGE, now_ms=NOW_MS)
    assert (ahead.health, ahead.silent_ms) == (Health.HEALTHY, 0)


def test_a_worker_whose_clock_went_back_after_the_claim_is_as_silent_as_its_start() -> None:
    behind = check_task(running(elapsed=2 * MINUTE, silent=60 * MINUTE), STAGE, now_ms=NOW_MS)
    assert (behind.health, behind.silent_ms) == (Health.HEALTHY, 2 * MINUTE)


def test_what_a_definition_leaves_out_is_as_the_stage_has_it() -> None:
    stage = HealthLimits(
        silent_warning_ms=1, silent_critical_ms=2, overtime_ms=3, progress_ms=4, repeats=5
    )
    assert OwnLimits().within(stage, timeout_ms=None) == stage
    assert OWN.within(stage, timeout_ms=None) == ITS_OWN


@pytest.mark.parametrize(
    ("task", "reason"),
    [
        (running(elapsed=12 * MINUTE, silent=11 * MINUTE), "no sign of life for 11 min"),
        (running(elapsed=6 * MINUTE), "no sign of life for 6 min"),
        (running(elapsed=75 * MINUTE, silent=0), "runs for 75 min, 60 min are allowed"),
        (running(elapsed=9, silent=0, repeats=12), "the same call of a tool 12 times in a row"),
        (
            running(elapsed=20 * MINUTE, silent=0, unchanged=16 * MINUTE),
            "alive, but at sdk_query:plan for 16 min",
        ),
        (running(elapsed=50_000, silent=20_000), "last sign of life 20 s ago"),
    ],
)
def test_a_check_says_why(task: Task, reason: str) -> None:
    assert check_task(task, STAGE, now_ms=NOW_MS).reason == reason


def test_a_check_names_the_worker_and_what_was_last_heard() -> None:
    fresh, renewed = (
        check_task(task, STAGE, now_ms=NOW_MS)
        for task in (running(elapsed=1), running(elapsed=2, silent=1))
    )
    assert (fresh.worker_id, fresh.last_event_type) == ("worker-1", "Task Processing Started")
    assert (renewed.definition, renewed.last_event_type) == ("scrape", "Task Heartbeat")


def test_the_worst_come_first_and_of_the_same_class_the_most_silent() -> None:
    def checked(task_id: str, health: Health, silent_ms: int) -> CheckedTask:
        task = replace(running(elapsed=1), ref=a_task(task_id).ref)
        return replace(check_task(task, STAGE, now_ms=NOW_MS), health=health, silent_ms=silent_ms)

    given = [
        checked("fine", Health.HEALTHY, 9),
        checked("slow", Health.WARNING, 5),
        checked("round", Health.NOT_PROGRESSING, 0),
        checked("long", Health.OVERTIME, 1),
        checked("gone", Health.CRITICAL, 5),
        checked("long-gone", Health.CRITICAL, 6),
    ]
    report = HealthReport(checked_at_ms=NOW_MS, tasks=worst_first(given))
    names = [task.ref.task_id for task in report.tasks]
    assert names == ["long-gone", "gone", "long", "round", "slow", "fine"]
    assert [task.ref.task_id for task in report.of(Health.CRITICAL)] == ["long-gone", "gone"]


@pytest.mark.parametrize("found", Health)
def test_people_should_look_at_what_is_stuck_late_or_without_progress(found: Health) -> None:
    task = replace(check_task(running(elapsed=1), STAGE, now_ms=NOW_MS), health=found)
    report = HealthReport(checked_at_ms=NOW_MS, tasks=(task,))
    alarming = {Health.CRITICAL, Health.OVERTIME, Health.NOT_PROGRESSING}
    assert report.alarming is (found in alarming)
