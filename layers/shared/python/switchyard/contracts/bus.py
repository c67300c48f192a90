"""What a queue behind a rule of the bus delivers."""

from pydantic import BaseModel, ConfigDict

from switchyard.contracts.events import ArrivedEvent
from switchyard.domain.event_keys import EntityType
from switchyard.domain.ids import START, JobRef, TaskRef, split_request_id


class BusMessage(BaseModel):
    """EventBridge's envelope, of which only the detail is ours."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    detail: ArrivedEvent


def settled_task(event: ArrivedEvent) -> TaskRef:
    """The task whose settling an event tells; a new job has settled its hidden `__start__`."""
    if event.entity_type is EntityType.JOB:
        return JobRef(event.tenant_id, event.entity_id).task(START)
    job_id, task_id = split_request_id(event.entity_id)
    return TaskRef(event.tenant_id, job_id, task_id)
