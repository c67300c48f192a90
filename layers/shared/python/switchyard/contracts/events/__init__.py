"""The event catalogue: one closed model per type, and the envelope they travel in.

A module with models is imported when one of them is used: to build them all takes long.
"""

from typing import TYPE_CHECKING, Final

from switchyard.on_demand import on_demand

if TYPE_CHECKING:
    from switchyard.contracts.events.catalogue import CATALOGUE, Raw, what_it_says
    from switchyard.contracts.events.checks import CheckedTask, HealthSummary, TaskHealthCheck
    from switchyard.contracts.events.envelope import (
        DETAIL_TYPE,
        FREE_FORM,
        OVERFLOW,
        SCHEMA_VERSION,
        ArrivedEvent,
        Context,
        Event,
        StoredEvent,
    )
    from switchyard.contracts.events.facts import job_event_facts, task_event_facts
    from switchyard.contracts.events.jobs import (
        CreatedTask,
        JobCancelled,
        JobCompleted,
        JobCreated,
        JobFailed,
        JobFailureDetected,
        JobSettled,
        JobTasksAdded,
    )
    from switchyard.contracts.events.properties import JobProperties, Properties, TaskProperties
    from switchyard.contracts.events.tasks import (
        MemoryUsage,
        ReportedActivity,
        TaskCancelled,
        TaskCompleted,
        TaskExpanded,
        TaskFailed,
        TaskHeartbeat,
        TaskHeld,
        TaskPending,
        TaskProcessingFailed,
        TaskProcessingStarted,
        TaskRedriven,
        TaskReleased,
        TaskSkipped,
        TaskTimeout,
        UnmetCommitment,
        UsageFigures,
    )

__all__ = [
    "CATALOGUE",
    "DETAIL_TYPE",
    "FREE_FORM",
    "OVERFLOW",
    "SCHEMA_VERSION",
    "ArrivedEvent",
    "CheckedTask",
    "Context",
    "CreatedTask",
    "Event",
    "HealthSummary",
    "JobCancelled",
    "JobCompleted",
    "JobCreated",
    "JobFailed",
    "JobFailureDetected",
    "JobProperties",
    "JobSettled",
    "JobTasksAdded",
    "MemoryUsage",
    "Properties",
    "Raw",
    "ReportedActivity",
    "StoredEvent",
    "TaskCancelled",
    "TaskCompleted",
    "TaskExpanded",
    "TaskFailed",
    "TaskHealthCheck",
    "TaskHeartbeat",
    "TaskHeld",
    "TaskPending",
    "TaskProcessingFailed",
    "TaskProcessingStarted",
    "TaskProperties",
    "TaskRedriven",
    "TaskReleased",
    "TaskSkipped",
    "TaskTimeout",
    "UnmetCommitment",
    "UsageFigures",
    "job_event_facts",
    "task_event_facts",
    "what_it_says",
]

_PARTS: Final = {
    "catalogue": (
        "CATALOGUE",
        "Raw",
        "what_it_says",
    ),
    "checks": (
        "CheckedTask",
        "HealthSummary",
        "TaskHealthCheck",
    ),
    "envelope": (
        "DETAIL_TYPE",
        "FREE_FORM",
        "OVERFLOW",
        "SCHEMA_VERSION",
        "ArrivedEvent",
        "Context",
        "Event",
        "StoredEvent",
    ),
    "facts": (
        "job_event_facts",
        "task_event_facts",
    ),
    "jobs": (
        "CreatedTask",
        "JobCancelled",
        "JobCompleted",
        "JobCreated",
        "JobFailed",
        "JobFailureDetected",
        "JobSettled",
        "JobTasksAdded",
    ),
    "properties": (
        "JobProperties",
        "Properties",
        "TaskProperties",
    ),
    "tasks": (
        "ReportedActivity",
        "MemoryUsage",
        "TaskCancelled",
        "TaskCompleted",
        "TaskExpanded",
        "TaskFailed",
        "TaskHeartbeat",
        "TaskHeld",
        "TaskPending",
        "TaskProcessingFailed",
        "TaskProcessingStarted",
        "TaskRedriven",
        "TaskReleased",
        "TaskSkipped",
        "TaskTimeout",
        "UnmetCommitment",
        "UsageFigures",
    ),
}

if not TYPE_CHECKING:
    __getattr__ = on_demand(__name__, _PARTS)
