"""The roles that the outside world plays for the use cases.

Every adapter of a port keeps the promises written here; `tests/contract` holds each to them.
"""

from switchyard.ports.additions import TaskAdditions
from switchyard.ports.blobs import BlobStore, Links, StoredBlob
from switchyard.ports.cancelling import Cancelling
from switchyard.ports.consumption import Consumption
from switchyard.ports.dispatching import DispatchQueue
from switchyard.ports.events import EventBus, EventLog, EventReader, PageOfEvents
from switchyard.ports.jobs import JobIntake, JobStore, PageOfJobs
from switchyard.ports.machine import (
    Clock,
    Ids,
    Randomness,
    ScaleInProtection,
    Sleep,
    Workforce,
)
from switchyard.ports.overdue import Backlog, Overdue, PageOfOverdue
from switchyard.ports.queues import Mail, Received, TaskInbox, TaskQueue
from switchyard.ports.rates import RequestRates
from switchyard.ports.redriving import Redriving
from switchyard.ports.registry import ApiKeys, DefinitionStore
from switchyard.ports.submission_keys import KeyTaken, SubmissionKeys
from switchyard.ports.task_output import TaskOutput
from switchyard.ports.tasks import Claimed, Payloads, Refused, TaskAdoption, TaskGraph, TaskLeases

__all__ = [
    "ApiKeys",
    "Backlog",
    "BlobStore",
    "Cancelling",
    "Claimed",
    "Clock",
    "Consumption",
    "DefinitionStore",
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
    "Payloads",
    "Randomness",
    "Received",
    "Redriving",
    "Refused",
    "RequestRates",
    "ScaleInProtection",
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
    "Workforce",
]
