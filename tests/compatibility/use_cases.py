"""What happens on a recorded stage: jobs of every kind, and what people ask of them."""

import random
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, Final
from unittest.mock import patch

from switchyard.adapters import eventbridge
from switchyard.adapters.dynamodb.access.tenants import DynamoDbTenantStore
from switchyard.adapters.dynamodb.cancellation import DynamoDbCancelling
from switchyard.adapters.dynamodb.definition_store import DynamoDbDefinitionStore
from switchyard.adapters.dynamodb.job_intake import DynamoDbJobIntake
from switchyard.adapters.dynamodb.job_store import DynamoDbJobStore
from switchyard.adapters.dynamodb.payloads import DynamoDbPayloads
from switchyard.adapters.dynamodb.redrives import DynamoDbRedriving
from switchyard.adapters.dynamodb.submission_keys import DynamoDbSubmissionKeys
from switchyard.adapters.dynamodb.table import DynamoDbTable
from switchyard.adapters.dynamodb.task_graph import DynamoDbTaskGraph
from switchyard.contracts.changes import RedriveJob
from switchyard.contracts.jobs import SubmitJob
from switchyard.contracts.messages import TaskMessage
from switchyard.domain.health.health import CheckedTask, Health, HealthReport
from switchyard.domain.ids import JobRef
from switchyard.usecases.health.watch_health import checked
from switchyard.usecases.jobs import expand_job, submit_job
from switchyard.usecases.jobs.cancel import CancelRequests
from switchyard.usecases.jobs.redrive_requests import RedriveRequests
from switchyard.usecases.jobs.submit_job import Submitter
from tests.builders import TRACEPARENT
from tests.compatibility.stage import Stage
from tests.simulation.asking import adding, cancelling_task
from tests.simulation.cloud.cloud import Seen
from tests.simulation.cloud.sqs import QueueFaults
from tests.simulation.jobs import DrawnIds, a_limit
from tests.simulation.reference import Declared

TENANT: Final = "acme"
PERSON: Final = "on call (Slack U024BE7LH)"

_BRAND: Final[dict[str, Any]] = {
    "name": "brand",
    "tags": {"team": "web", "customer": "initech"},
    "notify": {"channel": "#brand"},
    "tasks": [
        {
            "taskId": "ok-scrape",
            "name": "scrape",
            "input": {"url": "https://example.com", "deep": 2.5},
        },
        {"taskId": "large-colors", "name": "scrape", "dependsOn": ["ok-scrape"]},
        {"taskId": "ok-fonts", "name": "scrape", "dependsOn": ["ok-scrape"], "input": "x" * 4_100},
        {"taskId": "ok-report", "name": "scrape", "dependsOn": ["large-colors", "ok-fonts"]},
    ],
}
_TROUBLED: Final[dict[str, Any]] = {
    "name": "troubled",
    "notify": {"webhook": "https://hooks.example.com/switchyard"},
    "tasks": [
        {"taskId": "fail-parse", "name": "scrape", "input": {"page": 1}},
        {"taskId": "late-fetch", "name": "scrape"},
        {"taskId": "flaky-fetch", "name": "scrape"},
        {"taskId": "limited-call", "name": "scrape"},
        {"taskId": "ok-after", "name": "scrape", "dependsOn": ["fail-parse"]},
        {"taskId": "ok-mend", "name": "scrape", "dependsOn": ["fail-parse"], "rule": "any_failed"},
        {
            "taskId": "ok-sum",
            "name": "scrape",
            "dependsOn": ["late-fetch", "flaky-fetch", "ok-after"],
            "rule": "all_settled",
        },
    ],
}
_SLOW: Final[dict[str, Any]] = {
    "name": "slow",
    "tasks": [
        {"taskId": "slow-crawl", "name": "scrape"},
        {"taskId": "ok-index", "name": "scrape", "dependsOn": ["slow-crawl"]},
    ],
}
_WIDE: Final[dict[str, Any]] = {
    "name": "wide",
    "tags": {"size": "large"},
    "tasks": [{"taskId": f"ok-{n}", "name": "scrape", "input": {"part": n}} for n in range(9)],
}


@contextmanager
def small_limits() -> Iterator[None]:
    """Job documents, job parts and event overflow, without the sizes that they are meant for."""
    with ExitStack() as limits:
        limits.enter_context(patch.object(submit_job, "MAX_INLINE_TASKS", 8))
        limits.enter_context(patch.object(expand_job, "ITEMS_AT_ONCE", 3))
        limits.enter_context(patch.object(eventbridge, "MAX_DETAIL_BYTES", 4_500))
        yield


def first_jobs(stage: Stage) -> None:
    submit(stage, _BRAND, key="order-1", traceparent=TRACEPARENT)
    submit(stage, _TROUBLED)
    submit(stage, _WIDE, key="order-2")
    stage.send_foreign()
    stage.send_foreign()
    stage.send_poison()


def later_jobs(stage: Stage) -> None:
    submit(stage, _SLOW, traceparent=TRACEPARENT)
    submit(stage, _SLOW | {"name": "slow and cancelled"})


def lost_message(stage: Stage) -> None:
    """A job whose wake-up is lost, so that the sweeper sends it again."""
    stage.cloud.tasks.faults = QueueFaults(lost=1.0)
    submit(stage, {"name": "lost", "tasks": [{"taskId": "ok-lost", "name": "scrape"}]})


def dead_letter(stage: Stage) -> None:
    """A wake-up that was received too often; its task is sent again by who processes it."""
    stage.cloud.clear_up()
    wake_up = TaskMessage.to(named(stage, "lost").task("ok-lost"), run=1)
    attributes = {
        name: {"DataType": found.data_type, "StringValue": found.string_value}
        for name, found in wake_up.attributes.items()
    }
    stage.cloud.dead_letters.put(wake_up.model_dump_json(by_alias=True), attributes=attributes)


def add_tasks(stage: Stage) -> None:
    job = named(stage, "slow")
    new = [Declared("ok-added", ("slow-crawl",)), Declared("fail-added", ())]
    stage.invocations.invoke("api", adding(job, new))


def cancel_task(stage: Stage) -> None:
    stage.invocations.invoke("api", cancelling_task(named(stage, "slow").task("ok-index")))


def cancel_job(stage: Stage) -> None:
    job = named(stage, "slow and cancelled")

    def cancel(seen: Seen) -> None:
        state = seen.table(seen.cloud.state)
        CancelRequests(
            jobs=DynamoDbJobStore(state),
            graph=DynamoDbTaskGraph(state),
            cancelling=DynamoDbCancelling(state),
            dispatches=seen.dispatches(),
            emitter=seen.emitter(),
            clock=seen.node,
        ).request_cancel(job, by=PERSON)

    stage.invocations.invoke("api", cancel)


def redrive(stage: Stage) -> None:
    job = named(stage, "troubled")
    changed = {
        "tasks": ["fail-parse"],
        "input": {"page": 2},
        "model": "claude-opus-4-6",
        "maxTurns": 20,
        "timeout": 90_000,
        "maxCostUsd": 2.5,
    }

    def ask(seen: Seen) -> None:
        state, blobs = seen.table(seen.cloud.state), seen.blobs()
        RedriveRequests(
            jobs=DynamoDbJobStore(state),
            redriving=DynamoDbRedriving(state, DynamoDbPayloads(state, blobs)),
            blobs=blobs,
            dispatches=seen.dispatches(),
            clock=seen.node,
        ).request_redrive(job, RedriveJob.model_validate(changed), by=PERSON)

    stage.invocations.invoke("api", ask)


def check_health(stage: Stage) -> None:
    """What the health check emits when one of its tasks is not well."""
    tasks = (
        CheckedTask(
            ref=named(stage, "slow").task("slow-crawl"),
            definition="scrape",
            health=Health.WARNING,
            reason="no sign of life for 5 min",
            elapsed_ms=600_000,
            silent_ms=300_000,
            last_event_type="Task Heartbeat",
            worker_id="worker-1",
        ),
    )

    def emit(seen: Seen) -> None:
        report = HealthReport(checked_at_ms=seen.node.now_ms(), tasks=tasks)
        seen.emitter().emit(*checked(report, tenant=None))

    stage.invocations.invoke("check-health", emit)


def submit(
    stage: Stage, job: dict[str, Any], *, key: str | None = None, traceparent: str | None = None
) -> None:
    dice = random.Random(job["name"])

    def ask(seen: Seen) -> None:
        state = seen.table(seen.cloud.state)
        Submitter(
            intake=DynamoDbJobIntake(state, DynamoDbPayloads(state, seen.blobs())),
            jobs=DynamoDbJobStore(state),
            definitions=DynamoDbDefinitionStore(seen.table(seen.cloud.definitions)),
            submission_keys=DynamoDbSubmissionKeys(state),
            blobs=seen.blobs(),
            dispatches=seen.dispatches(),
            emitter=seen.emitter(),
            clock=seen.node,
            ids=DrawnIds(dice),
            tenants=_tenants(state),
            open_tasks=a_limit(state, seen),
        ).submit(TENANT, SubmitJob.model_validate(job), key=key, traceparent=traceparent)

    stage.invocations.invoke("api", ask)


def _tenants(state: DynamoDbTable) -> DynamoDbTenantStore:
    tenants = DynamoDbTenantStore(state)
    tenants.change(TENANT, slack_channels=("#brand",))
    return tenants


def named(stage: Stage, name: str) -> JobRef:
    [ref] = [ref for ref, job in stage.history.jobs.items() if job.name == name]
    return ref


Step = Callable[[Stage], None]
STEPS: Final[tuple[tuple[float, str, Step], ...]] = (
    (1.2, "accepted", first_jobs),
    (2.5, "begun", later_jobs),
    (4.0, "under-way", lost_message),
    (2.0, "parked", dead_letter),
    (3.0, "checked", check_health),
    (30.0, "added", add_tasks),
    (6.0, "task-cancelled", cancel_task),
    (1.0, "job-cancelling", cancel_job),
)
"""Seconds that pass after each step, and the name of the moment that is saved then."""
