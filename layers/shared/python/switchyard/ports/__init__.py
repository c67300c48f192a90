"""The roles that the outside world plays for the use cases.

Every adapter of a port keeps the promises written here; `tests/contract` holds each to them. What
nobody asks for is not imported: it would only make a function's start slower.
"""

from typing import TYPE_CHECKING, Final

from switchyard.on_demand import on_demand

if TYPE_CHECKING:
    from switchyard.ports.additions import TaskAdditions
    from switchyard.ports.blobs import BlobStore, Links, StoredBlob
    from switchyard.ports.cancelling import Cancelling
    from switchyard.ports.consumption import Consumption
    from switchyard.ports.counters import Counters, PublishedMinutes
    from switchyard.ports.deployments import Deployments
    from switchyard.ports.dispatching import DispatchQueue
    from switchyard.ports.events import EventBus, EventLog, EventReader, PageOfEvents
    from switchyard.ports.jobs import JobIntake, JobStore, PageOfJobs
    from switchyard.ports.machine import (
        Clock,
        Ids,
        Randomness,
        ScaleInProtection,
        SharedClock,
        Sleep,
        Workforce,
    )
    from switchyard.ports.overdue import Overdue, PageOfOverdue
    from switchyard.ports.presence import Presence
    from switchyard.ports.queues import (
        Mail,
        QueueDepth,
        QueueDepths,
        Received,
        TaskInbox,
        TaskQueue,
    )
    from switchyard.ports.rates import RequestRates
    from switchyard.ports.redriving import Redriving
    from switchyard.ports.registry import ApiKeys, DefinitionStore
    from switchyard.ports.submission_keys import KeyTaken, SubmissionKeys
    from switchyard.ports.task_output import TaskOutput
    from switchyard.ports.tasks import (
        Claimed,
        Payloads,
        Refused,
        Seen,
        TaskAdoption,
        TaskGraph,
        TaskLeases,
        TasksOfJob,
    )
    from switchyard.ports.unsettled import PageOfUnsettled, Unsettled, UnsettledTask

__all__ = [
    "ApiKeys",
    "BlobStore",
    "Cancelling",
    "Claimed",
    "Clock",
    "Consumption",
    "Counters",
    "DefinitionStore",
    "Deployments",
    "DispatchQueue",
    "EventBus",
    "EventLog",
    "EventReader",
    "Ids",
    "JobIntake",
    "JobStore",
    "KeyTaken",
    "Links",
    "Mail",
    "Overdue",
    "PageOfEvents",
    "PageOfJobs",
    "PageOfOverdue",
    "PageOfUnsettled",
    "Payloads",
    "Presence",
    "PublishedMinutes",
    "QueueDepth",
    "QueueDepths",
    "Randomness",
    "Received",
    "Redriving",
    "Refused",
    "RequestRates",
    "ScaleInProtection",
    "Seen",
    "SharedClock",
    "Sleep",
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
    "Unsettled",
    "UnsettledTask",
    "Workforce",
]

_PARTS: Final = {
    "additions": ("TaskAdditions",),
    "blobs": ("BlobStore", "Links", "StoredBlob"),
    "cancelling": ("Cancelling",),
    "consumption": ("Consumption",),
    "counters": ("Counters", "PublishedMinutes"),
    "deployments": ("Deployments",),
    "dispatching": ("DispatchQueue",),
    "events": ("EventBus", "EventLog", "EventReader", "PageOfEvents"),
    "jobs": ("JobIntake", "JobStore", "PageOfJobs"),
    "machine": (
        "Clock",
        "Ids",
        "Randomness",
        "ScaleInProtection",
        "SharedClock",
        "Sleep",
        "Workforce",
    ),
    "overdue": ("Overdue", "PageOfOverdue"),
    "presence": ("Presence",),
    "queues": ("Mail", "QueueDepth", "QueueDepths", "Received", "TaskInbox", "TaskQueue"),
    "rates": ("RequestRates",),
    "redriving": ("Redriving",),
    "registry": ("ApiKeys", "DefinitionStore"),
    "submission_keys": ("KeyTaken", "SubmissionKeys"),
    "task_output": ("TaskOutput",),
    "tasks": (
        "Claimed",
        "Payloads",
        "Refused",
        "Seen",
        "TaskAdoption",
        "TaskGraph",
        "TaskLeases",
        "TasksOfJob",
    ),
    "unsettled": ("PageOfUnsettled", "Unsettled", "UnsettledTask"),
}

if not TYPE_CHECKING:
    __getattr__ = on_demand(__name__, _PARTS)
