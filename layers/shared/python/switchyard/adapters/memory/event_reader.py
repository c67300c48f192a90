"""Reads the log in memory, through the same ranges of the same keys."""

from typing import Any, Final

from switchyard.adapters.event_overflow import EventOverflow
from switchyard.adapters.memory.transport import MemoryEventLog
from switchyard.contracts.events import KeptEvent
from switchyard.contracts.tables import EVENT_SUMMARY
from switchyard.domain.event_queries import EventQuery

_SUMMARY: Final = {*EVENT_SUMMARY, "PK", "SK"}


class MemoryEventReader:
    def __init__(self, log: MemoryEventLog, overflow: EventOverflow) -> None:
        self._log = log
        self._overflow = overflow

    def read(self, query: EventQuery, *, full: bool = False) -> tuple[KeptEvent, ...]:
        kept = [
            self._whole(record) if full or not query.summarised else _summary(record)
            for record in self._log.records.values()
            if _answers(record, query)
        ]
        return tuple(sorted(kept, key=lambda event: event.order))

    def _whole(self, record: dict[str, Any]) -> KeptEvent:
        properties = self._overflow.put_back(record["properties"])
        return KeptEvent.model_validate({**record, "properties": properties})


def _answers(record: dict[str, Any], query: EventQuery) -> bool:
    partition, sort = query.key_names
    return (
        record.get(partition) == query.partition
        and query.low <= record[sort] <= query.high
        and record["tenantId"] == query.tenant
    )


def _summary(record: dict[str, Any]) -> KeptEvent:
    return KeptEvent.model_validate({n: v for n, v in record.items() if n in _SUMMARY})
