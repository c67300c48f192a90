"""The fields that every event has, whatever its type."""

from typing import ClassVar

from switchyard.contracts.wire import Written
from switchyard.domain.events.event_keys import EntityType


class Properties(Written):
    """The content of one type of event. `run` and `fence` identify the transition it reports."""

    event_type: ClassVar[str]
    entity_type: ClassVar[EntityType]
    sparse: ClassVar[bool] = False
    """Whether only the entity's history lists it: each further index entry is a paid write."""

    run: int
    fence: int = 0

    @property
    def entity_id(self) -> str:
        raise NotImplementedError

    @property
    def number(self) -> int:
        """Return what distinguishes several events of one type that one transition emits."""
        return 0


class JobProperties(Properties):
    entity_type: ClassVar[EntityType] = EntityType.JOB

    job_id: str

    @property
    def entity_id(self) -> str:
        return self.job_id


class TaskProperties(Properties):
    entity_type: ClassVar[EntityType] = EntityType.TASK

    job_id: str | None = None
    """The job's id; `None` for a bare task."""
    request_id: str

    @property
    def entity_id(self) -> str:
        return self.request_id
