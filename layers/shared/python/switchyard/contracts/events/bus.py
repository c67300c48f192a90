"""What a queue behind a rule of the bus delivers."""

from typing import Final

from pydantic import BaseModel, ConfigDict

from switchyard.contracts.events import (
    ArrivedEvent,
    JobCreated,
    TaskCancelled,
    TaskCompleted,
    TaskFailed,
    TaskSkipped,
    TaskTimeout,
)
from switchyard.domain.errors import NewerVersion
from switchyard.domain.events.event_keys import EntityType
from switchyard.domain.ids import JOB_ID, START, TENANT_ID, JobRef, task_named
from switchyard.domain.jobs.plan import FIRST_RUN
from switchyard.domain.tasks.task import TaskRun

WAKING_EVENTS: Final = (
    JobCreated.event_type,
    TaskCompleted.event_type,
    TaskFailed.event_type,
    TaskTimeout.event_type,
    TaskSkipped.event_type,
    TaskCancelled.event_type,
)
"""What the dispatcher is woken by."""

DELIVERY_RETRIES: Final = 185
"""How often EventBridge tries to deliver an event again: as often as it does by default.

The default is named because it is not the same for every kind of bus.
https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-rule-retry-policy.html
"""
DELIVERY_SECONDS: Final = 24 * 60 * 60


class BusMessage(BaseModel):
    """EventBridge's envelope, of which only the detail is ours."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    detail: ArrivedEvent


def settled_task(event: ArrivedEvent) -> TaskRun:
    """Return the settled task of an event; a new job has settled its hidden `__start__`."""
    if not TENANT_ID.fullmatch(event.tenant_id):
        raise ValueError(f"{event.tenant_id!r} is not a tenant")
    if event.entity_type == EntityType.TASK:
        return TaskRun(task_named(event.tenant_id, event.entity_id), _run(event))
    if event.entity_type != EntityType.JOB:
        raise NewerVersion(f"{event.entity_type!r} is no kind of entity that this version knows")
    if not JOB_ID.fullmatch(event.entity_id):
        raise ValueError(f"{event.entity_id!r} is not a job")
    return TaskRun(JobRef(event.tenant_id, event.entity_id).task(START), FIRST_RUN)


def _run(event: ArrivedEvent) -> int:
    run = event.properties.get("run")
    if not isinstance(run, int):
        raise ValueError(f"{run!r} is not the run of {event.entity_id}")
    return run
