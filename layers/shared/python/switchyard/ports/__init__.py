"""The roles that the outside world plays for the use cases.

Every adapter of a port keeps the promises written here; `tests/contract` holds each to them. What
nobody asks for is not imported: it would only make a function's start slower.
"""

from typing import TYPE_CHECKING, Final

from switchyard.on_demand import on_demand

if TYPE_CHECKING:
    from switchyard.ports.access import ApiKeys, OpenTasks, RequestRates, TenantStore
    from switchyard.ports.blobs import BlobStore, Links, StoredBlob, TaskOutput
    from switchyard.ports.events import (
        Counters,
        EventBus,
        EventLog,
        EventReader,
        PageOfEvents,
        PublishedMinutes,
        SpanExporter,
    )
    from switchyard.ports.jobs import (
        WRITING_SECONDS,
        Cancelling,
        JobIntake,
        JobStore,
        KeyTaken,
        PageOfJobs,
        Redriving,
        SubmissionKeys,
        TaskAdditions,
    )
    from switchyard.ports.machine import (
        Clock,
        Ids,
        Parallel,
        Randomness,
        ScaleInProtection,
        SharedClock,
        Sleep,
    )
    from switchyard.ports.observation import Deployments, Inspection, PauseSwitch, Presence
    from switchyard.ports.queues import (
        DispatchQueue,
        QueueDepth,
        QueueDepths,
        QueueSender,
        Received,
        TaskInbox,
        TaskQueue,
    )
    from switchyard.ports.registry import DefinitionStore, TriggerRule, TriggerRules, TriggerStore
    from switchyard.ports.tasks import (
        Claimed,
        ClaimRefused,
        FanOuts,
        Overdue,
        PageOfOverdue,
        PageOfUnsettled,
        Payloads,
        Seen,
        TaskAdoption,
        TaskGraph,
        TaskLeases,
        TasksOfJob,
        Unsettled,
        UnsettledTask,
    )

__all__ = [
    "WRITING_SECONDS",
    "ApiKeys",
    "BlobStore",
    "Cancelling",
    "ClaimRefused",
    "Claimed",
    "Clock",
    "Counters",
    "DefinitionStore",
    "Deployments",
    "DispatchQueue",
    "EventBus",
    "EventLog",
    "EventReader",
    "FanOuts",
    "Ids",
    "Inspection",
    "JobIntake",
    "JobStore",
    "KeyTaken",
    "Links",
    "OpenTasks",
    "Overdue",
    "PageOfEvents",
    "PageOfJobs",
    "PageOfOverdue",
    "PageOfUnsettled",
    "Parallel",
    "PauseSwitch",
    "Payloads",
    "Presence",
    "PublishedMinutes",
    "QueueDepth",
    "QueueDepths",
    "QueueSender",
    "Randomness",
    "Received",
    "Redriving",
    "RequestRates",
    "ScaleInProtection",
    "Seen",
    "SharedClock",
    "Sleep",
    "SpanExporter",
    "StoredBlob",
    "SubmissionKeys",
    "TaskAdditions",
    "TaskAdoption",
    "TaskGraph",
    "TaskInbox",
    "TaskLeases",
    "TaskOutput",
    "TaskQueue",
    "TasksOfJob",
    "TenantStore",
    "TriggerRule",
    "TriggerRules",
    "TriggerStore",
    "Unsettled",
    "UnsettledTask",
]

_PARTS: Final = {
    "access": (
        "ApiKeys",
        "OpenTasks",
        "RequestRates",
        "TenantStore",
    ),
    "blobs": (
        "BlobStore",
        "Links",
        "StoredBlob",
        "TaskOutput",
    ),
    "events": (
        "Counters",
        "EventBus",
        "EventLog",
        "EventReader",
        "PageOfEvents",
        "PublishedMinutes",
        "SpanExporter",
    ),
    "jobs": (
        "Cancelling",
        "JobIntake",
        "JobStore",
        "KeyTaken",
        "PageOfJobs",
        "Redriving",
        "SubmissionKeys",
        "TaskAdditions",
        "WRITING_SECONDS",
    ),
    "machine": (
        "Clock",
        "Ids",
        "Randomness",
        "ScaleInProtection",
        "SharedClock",
        "Sleep",
        "Parallel",
    ),
    "observation": (
        "PauseSwitch",
        "Deployments",
        "Inspection",
        "Presence",
    ),
    "queues": (
        "DispatchQueue",
        "QueueSender",
        "QueueDepth",
        "QueueDepths",
        "Received",
        "TaskInbox",
        "TaskQueue",
    ),
    "registry": (
        "DefinitionStore",
        "TriggerRule",
        "TriggerRules",
        "TriggerStore",
    ),
    "tasks": (
        "Claimed",
        "FanOuts",
        "Overdue",
        "PageOfOverdue",
        "PageOfUnsettled",
        "Payloads",
        "ClaimRefused",
        "Seen",
        "TaskAdoption",
        "TaskGraph",
        "TaskLeases",
        "TasksOfJob",
        "Unsettled",
        "UnsettledTask",
    ),
}

if not TYPE_CHECKING:
    __getattr__ = on_demand(__name__, _PARTS)
