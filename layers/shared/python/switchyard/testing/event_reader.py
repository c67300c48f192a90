"""Reads the log in memory, through the same ranges of the same keys."""

from collections.abc import Sequence
from typing import Final

from switchyard.adapters.event_pages import EventPages, Record
from switchyard.adapters.eventbridge import EventOverflow
from switchyard.contracts.tables import EVENT_SUMMARY
from switchyard.domain.events.event_queries import EventQuery
from switchyard.testing.transport import MemoryEventLog

_SUMMARY: Final = {*EVENT_SUMMARY, "PK", "SK"}


class MemoryEventReader(EventPages):
    def __init__(self, log: MemoryEventLog, overflow: EventOverflow) -> None:
        super().__init__(overflow)
        self._log = log

    def _find(
        self,
        query: EventQuery,
        *,
        newest_first: bool,
        at_once: int | None,  # noqa: ARG002
    ) -> list[Record]:
        partition, sort = query.key_names
        found = [
            record
            for record in self._log.records.values()
            if record.get(partition) == query.partition and query.low <= record[sort] <= query.high
        ]
        found.sort(key=lambda record: str(record[sort]), reverse=newest_first)
        return [_summary(record) if query.summarised else record for record in found]

    def _whole(self, summaries: Sequence[Record]) -> list[Record]:
        return [self._log.records[summary["PK"], summary["SK"]] for summary in summaries]


def _summary(record: Record) -> Record:
    return {name: value for name, value in record.items() if name in _SUMMARY}
