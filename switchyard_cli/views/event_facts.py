"""Sums up the important facts of an event in a few words."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any, Final

from switchyard.contracts.events import (
    JobCreated,
    JobFailureDetected,
    JobSettled,
    JobTasksAdded,
    TaskCancelled,
    TaskCompleted,
    TaskExpanded,
    TaskFailed,
    TaskHealthCheck,
    TaskHeartbeat,
    TaskHeld,
    TaskPending,
    TaskProcessingFailed,
    TaskProcessingStarted,
    TaskRedriven,
    TaskReleased,
    TaskSkipped,
    TaskTimeout,
    what_it_says,
)
from switchyard.contracts.wire import instant
from switchyard_cli.views.wording import cost, counted, duration

if TYPE_CHECKING:
    from switchyard.contracts.events.views import EventView

MEGABYTE: Final = 1_000_000


def facts_of(event: EventView) -> list[str]:
    said: Any = what_it_says(event.stored())
    if isinstance(said, dict):
        return [json.dumps(said, ensure_ascii=False)] if said else []
    again = [f"run {said.run}"] if said.run > 1 else []
    return [fact for fact in [*_of_job(said), *_of_task(said), *again] if fact]


def _of_job(said: Any) -> list[str]:
    match said:
        case JobCreated():
            return [counted(said.total_tasks, "task")]
        case JobTasksAdded():
            return [f"{len(said.new_tasks)} more", counted(said.total_tasks_now, "task")]
        case JobFailureDetected():
            return [f"{said.failed_task_id} failed first"]
        case JobSettled():
            counts = Counter(said.task_statuses.values())
            return [f"{number} {status}" for status, number in sorted(counts.items())]
        case TaskHealthCheck():
            summary = [(name.removeprefix("total_"), number) for name, number in said.summary]
            return [f"{number} {name.replace('_', ' ')}" for name, number in summary if number]
    return []


def _of_task(said: Any) -> list[str]:
    match said:
        case TaskPending():
            return [
                said.name,
                *([f"after {' and '.join(said.depends_on)}"] if said.depends_on else []),
            ]
        case TaskHeld() | TaskExpanded():
            return _of_no_worker(said)
        case TaskProcessingStarted():
            return [said.worker_id, f"process {said.process_id}"]
        case TaskHeartbeat():
            return _of_heartbeat(said)
        case TaskCompleted():
            tokens = said.usage.input_tokens + said.usage.output_tokens
            used = f"{tokens} tokens" if tokens else ""
            return [
                _time(said.duration_ms),
                cost(said.usage.cost_usd),
                used,
                f"by {said.decided_by}" if said.decided_by else "",
                f"verified, {said.commitments_met} commitments met" if said.verified else "",
            ]
        case TaskTimeout():
            return [f"{said.signal} after {_time(said.elapsed_ms)} of {_time(said.timeout_ms)}"]
        case TaskRedriven():
            return [f"was {said.previous_status}"]
    return _of_setback(said)


def _of_no_worker(said: TaskHeld | TaskExpanded) -> list[str]:
    if isinstance(said, TaskExpanded):
        return [f"{said.items:,} items"]
    until = f"until {instant(said.held_until):%Y-%m-%d %H:%M} UTC"
    return [said.kind, until, said.question or ""]


def _of_setback(said: Any) -> list[str]:
    match said:
        case TaskProcessingFailed():
            return [f"attempt {said.attempt_number}", said.error_category, said.error]
        case TaskFailed():
            return [f"attempt {said.retry_count + 1}", said.error_category, said.error]
        case TaskReleased():
            until = instant(said.not_before)
            return [said.reason, f"not before {until.astimezone():%H:%M:%S}" if until else ""]
        case TaskSkipped() | TaskCancelled():
            return [said.reason]
    return []


def _of_heartbeat(said: TaskHeartbeat) -> list[str]:
    activity = said.last_activity
    return [
        f"beat {said.heartbeat_number}",
        _time(said.elapsed_ms),
        f"{said.memory_usage.rss / MEGABYTE:.0f} MB",
        (activity.step_name or activity.type) if activity else "",
    ]


def _time(milliseconds: int) -> str:
    return duration(milliseconds / 1000)
