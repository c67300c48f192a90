"""EventBridge: at least once, in no order, to every queue whose rule matches."""

import json
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from tests.simulation.cloud.sqs import Queue
from tests.simulation.kernel.world import World


@dataclass(frozen=True, slots=True, kw_only=True)
class BusFaults:
    refused: float = 0.0
    """How likely an entry is to be refused."""
    duplicated: float = 0.0
    late: float = 0.0
    """How likely an event is to take up to five minutes."""


@dataclass(slots=True, kw_only=True)
class Rule:
    queue: Queue
    event_types: Collection[str] | None = None
    """Everything, unless it says what."""
    lost: float = 0.0

    def matches(self, event_type: str) -> bool:
        return self.event_types is None or event_type in self.event_types


class EventBridge:
    def __init__(self, world: World, rules: list[Rule], faults: BusFaults) -> None:
        self._world = world
        self._rules = rules
        self.faults = faults
        self.under_way = 0

    def put_events(self, **request: Any) -> dict[str, Any]:
        entries = [self._accept(entry) for entry in request["Entries"]]
        failed = sum("ErrorCode" in entry for entry in entries)
        return {"FailedEntryCount": failed, "Entries": entries}

    def _accept(self, entry: dict[str, Any]) -> dict[str, str]:
        if self._world.chance(self.faults.refused):
            return {"ErrorCode": "InternalFailure"}
        body = json.dumps(
            {
                "source": entry["Source"],
                "detail-type": entry["DetailType"],
                "detail": json.loads(entry["Detail"]),
            }
        )
        event_type = json.loads(entry["Detail"])["eventType"]
        for rule in self._rules:
            if rule.matches(event_type):
                self._deliver(rule, event_type, body)
        return {"EventId": str(self._world.number("entry"))}

    def _deliver(self, rule: Rule, event_type: str, body: str) -> None:
        if self._world.chance(rule.lost):
            self._world.report("bus", f"LOST {event_type} on its way to {rule.queue.name}")
            return
        for _ in range(2 if self._world.chance(self.faults.duplicated) else 1):
            late = 300 if self._world.chance(self.faults.late) else 1
            self.under_way += 1
            self._world.after(self._world.dice.uniform(0, late), self._arrive, rule, body)

    def _arrive(self, rule: Rule, body: str) -> None:
        self.under_way -= 1
        rule.queue.send(body)
