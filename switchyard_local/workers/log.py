"""Reads the output of a task from the logs of the local cloud's workers."""

from collections.abc import Sequence
from pathlib import Path

from switchyard.contracts.worker_log import printed_in


class WorkerLogFile:
    def __init__(self, file: Path, request_id: str) -> None:
        self._file = file
        self._request_id = request_id
        self._read = 0

    def news(self) -> Sequence[str]:
        printed = (printed_in(line, self._request_id) for line in self._new_lines())
        return [line for line in printed if line is not None]

    def _new_lines(self) -> list[str]:
        """Return whole lines: the last may still be written. A new worker begins a new log."""
        if not self._file.exists():
            return []
        if self._file.stat().st_size < self._read:
            self._read = 0
        with self._file.open("rb") as log:
            log.seek(self._read)
            whole, newline, _ = log.read().rpartition(b"\n")
        self._read += len(whole) + len(newline)
        return whole.decode("utf-8", "replace").split("\n")


class WorkerLogFiles:
    """The logs of all workers, past ones too: it is not known which of them has the task."""

    def __init__(self, worker_log: Path, request_id: str) -> None:
        """Follow all logs; `worker_log` is the first worker's, and the others are beside it."""
        self._first = worker_log
        self._request_id = request_id
        self._logs: dict[Path, WorkerLogFile] = {}

    def news(self) -> Sequence[str]:
        others = self._first.parent.glob(f"{self._first.stem}-*{self._first.suffix}")
        for file in (self._first, *sorted(others)):
            self._logs.setdefault(file, WorkerLogFile(file, self._request_id))
        return [line for log in self._logs.values() for line in log.news()]
