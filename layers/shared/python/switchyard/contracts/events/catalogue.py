"""All types of events, and how a stored event becomes its model again."""

from collections.abc import Mapping
from typing import Any, Final

from pydantic import ValidationError

from switchyard.contracts.events.checks import TaskHealthCheck
from switchyard.contracts.events.envelope import OVERFLOW, SCHEMA_VERSION, StoredEvent
from switchyard.contracts.events.jobs import (
    JobCancelled,
    JobCompleted,
    JobCreated,
    JobFailed,
    JobFailureDetected,
    JobTasksAdded,
)
from switchyard.contracts.events.properties import Properties
from switchyard.contracts.events.tasks import (
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
)

CATALOGUE: Final[Mapping[str, type[Properties]]] = {
    model.event_type: model
    for model in (
        JobCreated,
        JobTasksAdded,
        JobFailureDetected,
        JobCompleted,
        JobFailed,
        JobCancelled,
        TaskPending,
        TaskHeld,
        TaskExpanded,
        TaskProcessingStarted,
        TaskHeartbeat,
        TaskProcessingFailed,
        TaskReleased,
        TaskCompleted,
        TaskFailed,
        TaskTimeout,
        TaskSkipped,
        TaskCancelled,
        TaskRedriven,
        TaskHealthCheck,
    )
}

Raw = dict[str, Any]


def what_it_says(event: StoredEvent) -> Properties | Raw:
    """The event's model; or all that it says as it is, if it has no model here or is not whole.

    Fields that a newer sender added to a type that is known here are left out.
    """
    said = event.properties
    if said is None:
        raise ValueError("a summary says nothing: read the whole event")
    model = CATALOGUE.get(event.event_type)
    if model is None or event.schema_version != SCHEMA_VERSION or OVERFLOW in said:
        return said
    try:
        return model.model_validate(said)
    except ValidationError:
        return said
