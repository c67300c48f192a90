"""Five ways to leave a job stuck. Each is over when the job can go on, and returns its id."""

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from switchyard.adapters.dynamodb.job_intake import DynamoDbJobIntake
from switchyard.adapters.dynamodb.payloads import DynamoDbPayloads
from switchyard.adapters.dynamodb.table import DynamoDbTable
from switchyard.adapters.s3 import S3BlobStore
from switchyard.adapters.system import SystemClock, SystemIds
from switchyard.contracts.job_document import JobDocument
from switchyard.contracts.jobs import SubmitJob
from switchyard.domain.ids import START, JobRef
from switchyard.domain.jobs.plan import Pinned, part_of
from switchyard.domain.prompts.artifacts import document_key
from tests.e2e.documents import a_job, scripted
from tests.e2e.failures.broken_stage import AFTER_A, Stricken
from tests.e2e.patience import eventually

LONG_ENOUGH_TO_DIE_OF: Final = scripted(delayMs=1_500)
WRITTEN: Final = 3
"""Items of the half-expanded job: all its tasks but the last, and nothing of what they name."""


@dataclass(frozen=True)
class Fault:
    name: str
    happen: Callable[[Stricken], str]


def message_deleted(harness: Stricken) -> str:
    """Delete the message by hand, before any worker could receive it."""
    harness.dismiss_worker()
    job_id = harness.submit()
    harness.until(job_id, "a", "QUEUED")
    eventually(lambda: _delete_message(harness, job_id), "its message is not in the queue")
    harness.breaks()
    harness.worker()
    harness.sweep_when_due(job_id, "a")
    return job_id


def worker_killed(harness: Stricken) -> str:
    """Nobody else takes the task over before the sweeper has seen that its lease is over."""
    harness.worker()
    job_id = harness.submit(**LONG_ENOUGH_TO_DIE_OF)
    harness.until(job_id, "a", "PROCESSING")
    harness.kill_worker()
    harness.breaks()
    lease_until_ms = harness.cloud.control_item(job_id, "a")["lease_until_ms"]
    eventually(lambda: SystemClock().now_ms() > lease_until_ms or None, "the lease goes on")
    harness.sweep_when_due(job_id, "a")
    harness.worker()
    return job_id


def events_dropped(harness: Stricken) -> str:
    """The one that starts the job, and the one that its second task waits for."""
    harness.dismiss_worker()
    with harness.without_events():
        job_id = harness.submit()
    harness.breaks()
    harness.sweep_when_due(job_id, START)
    harness.until(job_id, "a", "QUEUED")
    with harness.without_events():
        harness.worker()
        harness.until(job_id, "a", "COMPLETED")
    harness.sweep_when_due(job_id, "a")
    return job_id


def dispatcher_disabled(harness: Stricken) -> str:
    """Disable the dispatcher; its queue keeps what wakes it, and the sweeper adds to that."""
    harness.worker()
    with harness.without_dispatcher():
        job_id = harness.submit()
        harness.breaks()
        harness.sweep_when_due(job_id, START)
        harness.until(job_id, "a", "WAITING")
    return job_id


def half_expanded(harness: Stricken) -> str:
    """The writer of a large job's items died after the first ones, and its wake-up is gone."""
    harness.worker()
    ref = JobRef("local", SystemIds().new_job_id())
    tasks = a_job({"taskId": "a"}, {"taskId": "b", **AFTER_A})
    document = JobDocument(
        created_at=SystemClock().now_ms(),
        pinned={"do": Pinned(harness.define())},
        job=SubmitJob.model_validate({"name": "large", "tasks": tasks["tasks"]}),
    )
    plan, key = document.plan(ref), document_key(ref.tenant, ref.job_id)
    job = replace(plan.job, document_key=key)
    intake, blobs = _intake(harness)
    content = document.model_dump_json(by_alias=True).encode()
    blobs.put(key, content, content_type="application/json")
    intake.accept(job)
    intake.write_part(part_of(plan, first=0, at_most=WRITTEN))
    intake.note_written(job, WRITTEN)
    harness.breaks()
    harness.sweep_when_due(ref.job_id)
    return ref.job_id


FAULTS: Final = (
    Fault("a message was deleted by hand", message_deleted),
    Fault("the worker was killed", worker_killed),
    Fault("events were dropped", events_dropped),
    Fault("the dispatcher was disabled for a while", dispatcher_disabled),
    Fault("a job was half expanded", half_expanded),
)


def _delete_message(harness: Stricken, job_id: str) -> bool | None:
    sqs, url = harness.cloud.client("sqs"), harness.cloud.output("infrastructure", "TaskQueueUrl")
    received = sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10, VisibilityTimeout=1)
    for message in received.get("Messages", []):
        if json.loads(message["Body"])["jobId"] == job_id:
            sqs.delete_message(QueueUrl=url, ReceiptHandle=message["ReceiptHandle"])
            return True
    return None


def _intake(harness: Stricken) -> tuple[DynamoDbJobIntake, S3BlobStore]:
    """Return the writers that the dispatcher uses."""
    cloud = harness.cloud
    table = DynamoDbTable(
        cloud.client("dynamodb"), cloud.output("infrastructure", "StateTableName")
    )
    bucket = cloud.output("infrastructure", "ArtifactsBucketName")
    blobs = S3BlobStore(cloud.client("s3"), bucket)
    return DynamoDbJobIntake(table, DynamoDbPayloads(table, blobs)), blobs
