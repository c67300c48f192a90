"""The ports that a scenario's worker wraps, in memory, and what the wrapping wrote down."""

from pathlib import Path
from typing import Any

from switchyard.contracts.messages import MessageAttribute
from switchyard.ports import Received
from switchyard.testing import ManualClock
from switchyard.testing.transport import MemoryTaskQueue
from switchyard_scenarios.reporting.journal import Entry, Journal, entries_of
from switchyard_scenarios.switched.inbox import Bodies, SwitchedInbox
from switchyard_scenarios.switched.switches import WorkerSwitches


class NoEffects:
    """Remembers who was refused."""

    def __init__(self) -> None:
        self.refused: dict[str, str] = {}

    def refuse(self, message_id: str, reason: str, *, payload_digest: str) -> bool:
        self.refused[message_id] = reason
        return True


class Bench:
    def __init__(self, folder: Path, **switches: Any) -> None:
        self.clock = ManualClock()
        self.queue = MemoryTaskQueue(self.clock)
        self.effects = NoEffects()
        self.stops = 0
        self.parent = 7
        self._file = folder / "journal.jsonl"
        self.journal = Journal(self._file, self.clock)
        self.switches = WorkerSwitches(
            journal_file=self._file,
            message_status_table="status",
            message_completed_table="completed",
            **switches,
        )
        self.bodies = Bodies()
        self.inbox = SwitchedInbox(
            self.queue,
            self.switches,
            journal=self.journal,
            bodies=self.bodies,
            effects=self.effects,
            clock=self.clock,
            stop=self._stop,
            parent=lambda: self.parent,
        )

    def send(self, *ids: str, **attributes: str) -> None:
        for message_id in ids:
            said = {"requestId": message_id, **attributes}
            named = {
                name: MessageAttribute(data_type="String", string_value=value)
                for name, value in said.items()
            }
            self.queue.send_body("{}", attributes=named)

    def receive(self, at_most: int = 10) -> list[Received]:
        return list(self.inbox.receive(at_most=at_most, wait_seconds=0, visibility_seconds=10))

    def written(self, act: str) -> list[Entry]:
        return [entry for entry in entries_of("worker", self._file) if entry.act == act]

    def _stop(self) -> None:
        self.stops += 1
