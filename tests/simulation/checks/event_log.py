"""What the event log says at the end, against what the state table says."""

import random
from collections.abc import Iterator

from switchyard.adapters.dynamodb.event_log import DynamoDbEventReader
from switchyard.adapters.dynamodb.table import DynamoDbTable
from switchyard.adapters.eventbridge import EventOverflow
from switchyard.adapters.s3 import S3BlobStore
from switchyard.contracts.events import StoredEvent
from switchyard.contracts.events.facts import job_event_facts, task_event_facts
from switchyard.domain.events import event_queries
from switchyard.domain.events.fold import JobFold, fold_job
from switchyard.domain.ids import JobRef
from switchyard.domain.states import JobState, job_status, task_status
from tests.fakes.tables import BUCKET
from tests.simulation.checks.history import History
from tests.simulation.cloud.cloud import APP, Cloud


def log_differences(cloud: Cloud, history: History, dice: random.Random) -> Iterator[str]:
    blobs = S3BlobStore(cloud.s3, BUCKET)
    reader = DynamoDbEventReader(
        DynamoDbTable(cloud.dynamodb, cloud.events), EventOverflow(blobs, BUCKET)
    )
    for ref, job in history.jobs.items():
        if job.state is JobState.WRITING:
            continue
        of_job = list(reader.read(event_queries.history(ref)))
        of_tasks = list(reader.read(event_queries.of_all_tasks(ref, app=APP), full=True))
        fold = _folded(of_job, of_tasks)
        shuffled = [
            dice.sample(e, len(e)) + dice.sample(e, len(e) // 2) for e in (of_job, of_tasks)
        ]
        if _folded(*shuffled) != fold:
            yield f"{ref.job_id}: another order tells another story"
        yield from _differences(fold, ref, history)
        yield from _told_by_a_zombie(of_tasks, ref, history)


def _folded(of_job: list[StoredEvent], of_tasks: list[StoredEvent]) -> JobFold | None:
    return fold_job(job_event_facts(of_job), task_event_facts(of_tasks))


def _differences(fold: JobFold | None, ref: JobRef, history: History) -> Iterator[str]:
    job = history.jobs[ref]
    if fold is None:
        yield f"{ref.job_id}: the log does not know it"
        return
    if not fold.creation_emitted:
        yield f"{ref.job_id}: the log does not tell its creation"
    status = job_status(job.state, failure_detected=job.failure_detected_at_ms is not None)
    if fold.status != status:
        yield f"{ref.job_id}: the log says {fold.status}, the table {status}"
    if fold.total_tasks != job.total_tasks:
        yield f"{ref.job_id}: the log counts {fold.total_tasks} tasks, the table {job.total_tasks}"
    stored = {
        task.task_id: versions[-1].new
        for task, versions in history.tasks.items()
        if task.job == ref and history.is_visible(task)
    }
    for task_id, task in stored.items():
        emitted, known = fold.tasks.get(task_id), task_status(task.state, attempt=task.attempt)
        if emitted is None or emitted.status != known:
            logged = emitted.status if emitted else "nothing"
            yield f"{task_id}: the log says {logged}, the table {known}"
        if emitted and task.attempt and not emitted.pending_emitted:
            yield f"{task_id}: the log does not tell that it was pending"


def _told_by_a_zombie(of_tasks: list[StoredEvent], ref: JobRef, history: History) -> Iterator[str]:
    """Every outcome in the log was stored, under the same fence."""
    for emitted in task_event_facts(of_tasks):
        if not emitted.state.settled:
            continue
        versions = history.tasks[ref.task(emitted.task_id)]
        stored = {(v.new.state, v.new.fence) for v in versions}
        if (emitted.state, emitted.fence) not in stored:
            state = f"{emitted.state} at fence {emitted.fence}"
            yield f"I4: {emitted.task_id} was emitted as {state}, which was never stored"
