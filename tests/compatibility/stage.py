"""A simulated stage whose tasks end as their names say, and which can be saved and loaded."""

import json
from collections.abc import Mapping
from typing import Any, Final

from switchyard.adapters.dynamodb.definition_store import DynamoDbDefinitionStore
from switchyard.adapters.dynamodb.table import DynamoDbTable
from switchyard.domain.ids import BARE_PREFIX
from switchyard.domain.states import JobState
from switchyard.domain.tasks.failures import FailureCategory
from switchyard.domain.tasks.task import Usage
from switchyard.ports import Claimed
from switchyard_worker.parent.attempts.verdict import completed, failed, timed_out
from tests.builders import a_definition
from tests.simulation.cloud.sqs import Message, Queue
from tests.simulation.harness import Harness
from tests.simulation.jobs import TENANTS
from tests.simulation.script import Script
from tests.simulation.weather import CALM, Weather

TABLES: Final = ("state", "definitions")
USAGE: Final = Usage(input_tokens=1_200, output_tokens=340, cache_read_tokens=50, cost_usd=0.0125)
LARGE_OUTPUT: Final = "a long text, " * 400
Moment = dict[str, Any]
"""A stage at one moment as JSON: its time, its tables, its bucket and its queues."""


class ScriptByName(Script):
    """Ends a task by the first part of its id, so that every version ends it the same way."""

    def draw(self, claimed: Claimed) -> tuple[float, Any]:
        name = claimed.task.ref.task_id.partition("-")[0]
        return (200.0 if name == "slow" else 3.0), self._end(name, claimed)

    def _end(self, name: str, claimed: Claimed) -> Any:
        task, took = claimed.task, 3_000
        again = task.attempt > 1 or task.run > 1
        match name:
            case "fail" if task.run == 1:
                category = FailureCategory.VALIDATION
                return failed(category=category, error="no JSON", usage=USAGE, duration_ms=took)
            case "late" if task.run == 1:
                return timed_out(timeout_ms=took, duration_ms=took, signal="SIGTERM", usage=USAGE)
            case "flaky" if not again:
                category = FailureCategory.NETWORK
                return failed(category=category, error="cut", exit_code=1, duration_ms=took)
            case "limited" if not again:
                category = FailureCategory.RATE_LIMIT
                return failed(category=category, error="slower", retry_after_ms=20_000)
        output: dict[str, Any] = {"of": task.ref.request_id}
        if name == "large":
            output["text"] = LARGE_OUTPUT
        return completed(output=output, usage=USAGE, duration_ms=took)


class Stage(Harness):
    nests = False  # what is recorded here is compared with what released versions know

    def __init__(self, seed: int = 1, *, weather: Weather = CALM, workers: int = 2) -> None:
        super().__init__(seed, weather=weather, workers=0)
        self._script = ScriptByName(self.dice)
        self._register_definitions()
        for _ in range(workers):
            self.new_worker()

    @property
    def queues(self) -> Mapping[str, Queue]:
        cloud = self.cloud
        return {
            "tasks": cloud.tasks,
            "tasks-dlq": cloud.dead_letters,
            "dispatch": cloud.dispatch,
            "dispatch-dlq": cloud.dispatch_dead_letters,
            "events": cloud.event_queue,
        }

    def pass_time(self, seconds: float) -> None:
        self.world.run_until(lambda: False, look_every=seconds, at_most=seconds)

    def ends(self) -> dict[str, str]:
        """The states of accepted jobs and of tasks that belong to no job."""
        jobs = {
            ref.job_id: job.state.value
            for ref, job in self.history.jobs.items()
            if job.state is not JobState.WRITING
        }
        bare = {
            ref.job_id: versions[-1].new.state.value
            for ref, versions in self.history.tasks.items()
            if ref.job_id.startswith(BARE_PREFIX)
        }
        return jobs | bare

    def save(self) -> Moment:
        return {
            "seconds": self.world.now,
            "tables": {name: self._items(name) for name in TABLES},
            "bucket": {key: _text(body) for key, body in sorted(self.cloud.s3.objects.items())},
            "queues": {
                name: [_as_json(message) for message in queue.messages.values()]
                for name, queue in self.queues.items()
            },
        }

    def load(self, moment: Moment) -> None:
        """Everything as it was; messages that were received then are visible again."""
        self.world.loop.jump_to(moment["seconds"])
        for name in TABLES:
            for item in moment["tables"][name]:
                table = getattr(self.cloud, name)
                self.cloud.dynamodb.put_item(TableName=table, Item=item)
        for key, text in moment["bucket"].items():
            self.cloud.s3.put_object(Key=key, Body=text.encode())
        for name, queue in self.queues.items():
            for message in moment["queues"][name]:
                queue.put(message["body"], attributes=message["attributes"])

    def _items(self, table: str) -> list[Any]:
        items = self.cloud.dynamodb.items(getattr(self.cloud, table))
        return sorted(map(stable, items), key=lambda item: (item["PK"]["S"], item["SK"]["S"]))

    def _register_definitions(self) -> None:
        store = DynamoDbDefinitionStore(DynamoDbTable(self.cloud.dynamodb, self.cloud.definitions))
        for tenant in TENANTS:
            store.put(tenant, "scrape", a_definition(max_cost_usd=1.5, timeout=60_000))


def stable(item: Mapping[str, Any]) -> dict[str, Any]:
    """The item in DynamoDB's JSON, with the members of its sets in order."""
    return {
        name: {kind: sorted(value) if kind == "SS" else value for kind, value in typed.items()}
        for name, typed in sorted(item.items())
    }


def _as_json(message: Message) -> dict[str, Any]:
    return {"body": message.body, "attributes": message.attributes}


def _text(body: bytes | str) -> str:
    return body.decode() if isinstance(body, bytes) else body


def readable(text: str) -> Any:
    """Parsed, if it is JSON."""
    try:
        return json.loads(text)
    except ValueError:
        return text
