"""Judges a running task: silent, too long, or alive without getting anywhere."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import Final

from switchyard.domain.health.presence import PresentWorker
from switchyard.domain.health.unserved import UnservedCode, UnservedGroup
from switchyard.domain.ids import TaskRef
from switchyard.domain.tasks.task import Task, milliseconds

ENDING_MS: Final = milliseconds(timedelta(minutes=1))
"""The time beyond its timeout that an attempt may take to stop its child and upload files."""
STARTED: Final = "Task Processing Started"
HEARTBEAT: Final = "Task Heartbeat"
PROGRESS: Final = "progress"
"""The activity of a function that says how far it is."""


class Health(StrEnum):
    """The best first."""

    HEALTHY = "healthy"
    WARNING = "warning"
    NOT_PROGRESSING = "not_progressing"
    OVERTIME = "overtime"
    CRITICAL = "critical"

    @property
    def alarming(self) -> bool:
        """Whether a person should look at it."""
        return self not in {Health.HEALTHY, Health.WARNING}


_SEVERITY: Final = {health: rank for rank, health in enumerate(Health)}


@dataclass(frozen=True, slots=True, kw_only=True)
class HealthLimits:
    """The limits of a healthy task; a task beyond one of them is not healthy."""

    silent_warning_ms: int = milliseconds(timedelta(minutes=5))
    silent_critical_ms: int = milliseconds(timedelta(minutes=10))
    overtime_ms: int = milliseconds(timedelta(hours=1))
    progress_ms: int = milliseconds(timedelta(minutes=15))
    repeats: int = 10
    """The number of equal tool calls in a row that is too many."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnLimits:
    """The limits of a definition for its tasks; the stage's limits hold where a field is `None`."""

    silent_warning_ms: int | None = None
    silent_critical_ms: int | None = None
    overtime_ms: int | None = None
    progress_ms: int | None = None
    repeats: int | None = None

    def within(self, stage: HealthLimits, *, timeout_ms: int | None) -> HealthLimits:
        """Fill in the stage's limits; `timeout_ms` is an attempt's, if its definition has one."""
        usual = timeout_ms + ENDING_MS if timeout_ms else stage.overtime_ms
        return HealthLimits(
            silent_warning_ms=self.silent_warning_ms or stage.silent_warning_ms,
            silent_critical_ms=self.silent_critical_ms or stage.silent_critical_ms,
            overtime_ms=self.overtime_ms or usual,
            progress_ms=self.progress_ms or stage.progress_ms,
            repeats=self.repeats or stage.repeats,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedTask:
    ref: TaskRef
    definition: str
    health: Health
    reason: str
    elapsed_ms: int
    silent_ms: int
    last_event_type: str
    worker_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class HealthReport:
    checked_at_ms: int
    tasks: tuple[CheckedTask, ...]
    """The checks of all tasks that are being processed, the worst first."""
    sick_workers: tuple[PresentWorker, ...] = ()
    """Workers that take no tasks, since their machines lack something."""
    unserved: tuple[UnservedCode, ...] = ()
    """Code that tasks wait for, and that no worker serves."""
    unserved_groups: tuple[UnservedGroup, ...] = ()
    """Groups in which tasks wait, and that no pool serves."""

    def of(self, health: Health) -> tuple[CheckedTask, ...]:
        return tuple(task for task in self.tasks if task.health is health)

    @property
    def alarming(self) -> bool:
        lacking = self.sick_workers or self.unserved or self.unserved_groups
        return bool(lacking) or any(task.health.alarming for task in self.tasks)


def check_task(task: Task, limits: HealthLimits, *, now_ms: int) -> CheckedTask:
    """Check a task that is being processed."""
    health, reason = judge(task, limits, now_ms=now_ms)
    return CheckedTask(
        ref=task.ref,
        definition=task.definition,
        health=health,
        reason=reason,
        elapsed_ms=_elapsed(task, now_ms),
        silent_ms=_silent(task, now_ms),
        last_event_type=HEARTBEAT if task.signs else STARTED,
        worker_id=(task.owner or "").partition("/")[0],
    )


def judge(task: Task, limits: HealthLimits, *, now_ms: int) -> tuple[Health, str]:
    """Judge a task; silence comes first, since nothing else that a silent worker said counts."""
    silent, elapsed = _silent(task, now_ms), _elapsed(task, now_ms)
    if silent > limits.silent_critical_ms:
        return Health.CRITICAL, f"no sign of life for {_minutes(silent)}"
    if elapsed > limits.overtime_ms:
        allowed = _minutes(limits.overtime_ms)
        return Health.OVERTIME, f"runs for {_minutes(elapsed)}, {allowed} are allowed"
    if silent > limits.silent_warning_ms:
        return Health.WARNING, f"no sign of life for {_minutes(silent)}"
    return _progress(task, limits, now_ms)


def worst_first(tasks: Sequence[CheckedTask]) -> tuple[CheckedTask, ...]:
    def place(task: CheckedTask) -> tuple[int, int, int, TaskRef]:
        return -_SEVERITY[task.health], -task.silent_ms, -task.elapsed_ms, task.ref

    return tuple(sorted(tasks, key=place))


def _progress(task: Task, limits: HealthLimits, now_ms: int) -> tuple[Health, str]:
    repeats = task.signs.repeats if task.signs else 0
    if repeats >= limits.repeats:
        return Health.NOT_PROGRESSING, f"the same call of a tool {repeats} times in a row"
    unchanged = _unchanged(task, now_ms)
    if unchanged > limits.progress_ms:
        return Health.NOT_PROGRESSING, f"alive, but {_doing(task)} for {_minutes(unchanged)}"
    reported = _reported_progress(task)
    alive = f"last sign of life {_minutes(_silent(task, now_ms))} ago"
    return Health.HEALTHY, f"{reported}, {alive}" if reported else alive


def _reported_progress(task: Task) -> str | None:
    """Return what the task's own code said of its progress, if that is its activity."""
    activity = (task.signs.activity if task.signs else None) or ""
    kind, _, said = activity.partition(":")
    return said if kind == PROGRESS else None


def _doing(task: Task) -> str:
    reported = _reported_progress(task)
    activity = reported or (task.signs.activity if task.signs else None)
    return f"at {activity}" if activity else "without saying what it does"


def _elapsed(task: Task, now_ms: int) -> int:
    return _within_attempt(task, None, now_ms)


def _silent(task: Task, now_ms: int) -> int:
    return _within_attempt(task, task.signs.beat_at_ms if task.signs else None, now_ms)


def _unchanged(task: Task, now_ms: int) -> int:
    return _within_attempt(task, task.signs.activity_at_ms if task.signs else None, now_ms)


def _within_attempt(task: Task, moment_ms: int | None, now_ms: int) -> int:
    """Return the time since that moment, or else since the start.

    Clocks differ and jump: what has yet to happen is happening now, and nothing of an attempt was
    before it began.
    """
    started_at_ms = task.started_at_ms or 0
    return max(0, now_ms - max(started_at_ms, moment_ms or started_at_ms))


def _minutes(duration_ms: int) -> str:
    if duration_ms < 60_000:
        return f"{duration_ms // 1000} s"
    return f"{duration_ms // 60_000} min"
