"""What the dispatch queue delivers: events of the bus, and what was sent there directly."""

from dataclasses import dataclass, field
from typing import Final

from pydantic import TypeAdapter

from switchyard.contracts.bus import BusMessage, settled_task
from switchyard.contracts.dispatching import DispatchMessage
from switchyard.domain.ids import JobRef
from switchyard.domain.tasks.task import TaskRun

_ARRIVED: Final = TypeAdapter[BusMessage | DispatchMessage](BusMessage | DispatchMessage)


@dataclass(frozen=True, slots=True)
class WakeUp:
    ref: TaskRun | JobRef
    by_event: bool
    """An event may come long after what it tells; what was sent directly always asks for an act."""
    trace_id: str | None = field(default=None, compare=False)
    """If it is known: what is sent directly does not say it."""

    @property
    def job(self) -> JobRef:
        return self.ref if isinstance(self.ref, JobRef) else self.ref.ref.job


def wake_up(body: str) -> WakeUp:
    """Raise `ValueError` for what is neither."""
    match _ARRIVED.validate_json(body):
        case BusMessage(detail=event):
            trace_id = event.trace.trace_id if event.trace else None
            return WakeUp(settled_task(event), by_event=True, trace_id=trace_id)
        case DispatchMessage(ref=ref):
            return WakeUp(ref, by_event=False)
