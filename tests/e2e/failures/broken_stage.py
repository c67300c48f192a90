"""A deployed harness in which something breaks, and time that passes as fast as a test likes."""

import json
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Self

from switchyard.adapters.system import SystemClock
from switchyard.domain.jobs.overdue import Action
from tests.e2e.conftest import RunningCloud
from tests.e2e.documents import DEFINITION, a_job
from tests.e2e.patience import eventually
from tests.e2e.workers import Worker, Workers

SWEEPS_LOG = "/aws/lambda/switchyard-local-sweep"
DISPATCHER = "switchyard-local-dispatch"
BUS = "switchyard-local"
AFTER_A = {"dependsOn": ["a"]}
LOOKED_AT = {Action.WAIT, Action.LEAVE}
"""Nothing was done."""


@dataclass(frozen=True)
class Nudged:
    """What the sweeper's log says about one thing of a job."""

    what: str
    """A task, or the job."""
    action: str
    reason: str

    @classmethod
    def of(cls, line: dict[str, Any]) -> Self:
        task = line.get("request_id", "").partition("__")[2]
        return cls(task or "the job", line["action"], line["reason"])


@dataclass
class Stricken:
    cloud: RunningCloud
    workers: Workers
    broken_at: float = 0.0
    sweeps: int = 0
    """Since it broke."""
    _worker: Worker | None = field(default=None, init=False)

    def breaks(self) -> None:
        """Count from now on how long the recovery takes."""
        self.broken_at, self.sweeps = SystemClock().monotonic(), 0

    def submit(self, **script: Any) -> str:
        """`b` follows `a`, which goes as scripted."""
        return self.cloud.submit(a_job({"taskId": "a", **script}, {"taskId": "b", **AFTER_A}))

    def define(self) -> int:
        """The version of what its tasks do."""
        with self.cloud.http as http:
            answer = http.put("/task-definitions/do", json=DEFINITION).raise_for_status()
        version: int = answer.json()["version"]
        return version

    def until(self, job_id: str, task_id: str, state: str) -> dict[str, Any]:
        """Return the task's control item, as soon as it is in that state."""

        def look() -> dict[str, Any] | None:
            item = self.cloud.control_item(job_id, task_id)
            return item if item["state"] == state else None

        return eventually(look, f"{task_id} is not {state}")

    def worker(self) -> Worker:
        """The one that is at work."""
        self._worker = self._worker or self.workers.start()
        return self._worker

    def dismiss_worker(self) -> None:
        if self._worker is not None:
            self._worker.signal(signal.SIGTERM)
            self._end_of_worker()

    def kill_worker(self) -> None:
        self.worker().signal(signal.SIGKILL)
        self._end_of_worker()

    def _end_of_worker(self) -> None:
        self.worker().exit_code()
        self._worker = None

    def sweep_when_due(self, job_id: str, task_id: str | None = None) -> None:
        """Sweep as if the minutes until the due time of a crashed process had passed."""
        self.cloud.table(self.cloud.output("infrastructure", "StateTableName")).update_item(
            Key={
                "PK": f"TENANT#local#JOB#{job_id}",
                "SK": f"TASK#{task_id}" if task_id else "JOB",
            },
            UpdateExpression="SET due_at_ms = :then",
            ConditionExpression="attribute_exists(due_at_ms)",
            ExpressionAttributeValues={":then": 1},
        )
        self.cloud.sweep()
        self.sweeps += 1

    def nudges(self, job_id: str) -> tuple[Nudged, ...]:
        """What was done about the job, whichever sweep did it: one is made every minute."""
        return tuple(
            Nudged.of(line) for line in self._reported(job_id) if line["action"] not in LOOKED_AT
        )

    def _reported(self, job_id: str) -> Iterator[dict[str, Any]]:
        pages = self.cloud.client("logs").get_paginator("filter_log_events")
        for page in pages.paginate(logGroupName=SWEEPS_LOG, filterPattern=f'"{job_id}"'):
            for event in page["events"]:
                line = json.loads(event["message"])
                if line.get("message") == "overdue" and line["job_id"] == job_id:
                    yield line

    @contextmanager
    def without_dispatcher(self) -> Iterator[None]:
        functions = self.cloud.client("lambda")
        found = functions.list_event_source_mappings(FunctionName=DISPATCHER)
        mappings = [mapping["UUID"] for mapping in found["EventSourceMappings"]]
        for uuid in mappings:
            functions.update_event_source_mapping(UUID=uuid, Enabled=False)
        try:
            yield
        finally:
            for uuid in mappings:
                functions.update_event_source_mapping(UUID=uuid, Enabled=True)

    @contextmanager
    def without_events(self) -> Iterator[None]:
        """The bus takes them, and brings them to nobody."""
        events = self.cloud.client("events")
        rules = [
            rule["Name"]
            for rule in events.list_rules(EventBusName=BUS)["Rules"]
            if rule["State"] == "ENABLED"
        ]
        _each(events.disable_rule, rules)
        try:
            yield
        finally:
            _each(events.enable_rule, rules)


def _each(change: Callable[..., object], rules: list[str]) -> None:
    for name in rules:
        change(Name=name, EventBusName=BUS)
