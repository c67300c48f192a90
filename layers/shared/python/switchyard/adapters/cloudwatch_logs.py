"""Reads the output of a task from the log group of the workers."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

from switchyard.adapters.aws import call
from switchyard.contracts.worker_log import mark_of, printed_in

LATENESS_MS: Final = 60_000
"""The delay after a younger line with which a line may arrive and still be found."""


class CloudWatchTaskOutput:
    def __init__(self, client: Any, log_group: str, request_id: str, *, since_ms: int) -> None:
        self._client = client
        self._log_group = log_group
        self._request_id = request_id
        self._since_ms = since_ms
        self._emitted: dict[str, int] = {}
        """The times of logged lines that may be found again, by their ids."""

    def news(self) -> Sequence[str]:
        found = sorted(self._window(), key=lambda line: int(line["timestamp"]))
        news = [line for line in found if line["eventId"] not in self._emitted]
        self._emitted |= {line["eventId"]: int(line["timestamp"]) for line in news}
        if self._emitted:
            self._since_ms = max(self._since_ms, max(self._emitted.values()) - LATENESS_MS)
            self._emitted = {i: at for i, at in self._emitted.items() if at >= self._since_ms}
        printed = (printed_in(line["message"], self._request_id) for line in news)
        return [line for line in printed if line is not None]

    def _window(self) -> Iterator[Any]:
        asked = {
            "logGroupName": self._log_group,
            "filterPattern": f'"{mark_of(self._request_id)}"',
            "startTime": self._since_ms,
        }
        while True:
            page = call(self._client.filter_log_events, **asked)
            yield from page["events"]
            if "nextToken" not in page:
                return
            asked["nextToken"] = page["nextToken"]
