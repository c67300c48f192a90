"""The steps of a redrive on the job's and its tasks' items."""

from collections.abc import Mapping
from typing import Final

from switchyard.adapters.dynamodb.items import (
    DEPENDENTS_PREFIX,
    data_key,
    dependents_key,
    partition,
    task_from,
    task_item,
    task_key,
)
from switchyard.adapters.dynamodb.payloads import DynamoDbPayloads
from switchyard.adapters.dynamodb.table import DynamoDbTable, Update, key_item
from switchyard.adapters.dynamodb.transition_writes import TransitionWriter, write_of
from switchyard.adapters.dynamodb.values import Item
from switchyard.domain.ids import JobRef, TaskRef
from switchyard.domain.jobs import transitions as of_jobs
from switchyard.domain.jobs.job import Job
from switchyard.domain.jobs.redrive import NewEdges, RedrivePlan, Reopening, relay_task
from switchyard.domain.tasks import transitions as of_tasks
from switchyard.domain.tasks.task import Payload, Task

_INPUT: Final = ("input", "input_key")
_OUTPUT: Final = ("output", "output_key")


class DynamoDbRedriving:
    def __init__(self, table: DynamoDbTable, payloads: DynamoDbPayloads) -> None:
        self._table = table
        self._writer = TransitionWriter(table)
        self._payloads = payloads

    def edges(self, ref: JobRef) -> Mapping[str, tuple[str, ...]]:
        items = self._table.query(
            "#PK = :job AND begins_with(#SK, :dependents)",
            {"job": partition(ref), "dependents": DEPENDENTS_PREFIX},
        )
        return {item["SK"].removeprefix(DEPENDENTS_PREFIX): tuple(item["tasks"]) for item in items}

    def begin(self, job: Job, *, key: str, now_ms: int) -> bool:
        begin = of_jobs.begin_redrive(job, key=key, now_ms=now_ms)
        return isinstance(self._writer.write_job_surely(job.ref, begin), Job)

    def prepare(self, ref: JobRef, plan: RedrivePlan, name: str) -> None:
        edges = plan.edges[name]
        if name not in plan.relays:
            self._add_edges(ref.task(name), edges)
            return
        relay = relay_task(ref, plan, name)
        self._table.put_many([task_item(relay), _dependents_item(relay.ref, edges)])

    def reopen(
        self, ref: JobRef, reopening: Reopening, *, given: Payload | None = None, now_ms: int
    ) -> Task | None:
        task = ref.task(reopening.task_id)
        reopen = of_tasks.reopen(reopening, now_ms=now_ms)
        if given is None and not reopening.made_output:
            answer = self._writer.write_task(task, reopen)
            return answer if isinstance(answer, Task) else None
        data = self._data(task, given, made_output=reopening.made_output)
        self._table.transact(write_of(task, reopen), (data_key(task), data))
        item = self._table.get(task_key(task))
        found = task_from(item, ref) if item else None
        return found if found and reopen.was_written_to(found) else None

    def note(self, job: Job, *, written: int) -> None:
        self._writer.write_job(job.ref, of_jobs.note_redrive_progress(job, written=written))

    def open(self, job: Job, *, now_ms: int, fewer_tasks: int = 0) -> Job | None:
        reopen = of_jobs.reopen(job, now_ms=now_ms, fewer_tasks=fewer_tasks)
        answer = self._writer.write_job(job.ref, reopen)
        return answer if isinstance(answer, Job) else None

    def end(self, job: Job, *, now_ms: int) -> bool:
        answer = self._writer.write_job(job.ref, of_jobs.end_redrive(job, now_ms=now_ms))
        return isinstance(answer, Job)

    def _add_edges(self, ref: TaskRef, edges: NewEdges) -> None:
        self._table.update(
            dependents_key(ref),
            Update(
                set={"tasks": list(edges.after)},
                condition="#tasks = :before",
                values={"before": list(edges.before)},
            ),
        )

    def _data(self, ref: TaskRef, given: Payload | None, *, made_output: bool) -> Update:
        item = self._payloads.new_item(ref, given) if given else {}
        stored: Item = {name: item[name] for name in _INPUT if name in item}
        old = {*(_INPUT if given else ()), *(_OUTPUT if made_output else ())} - stored.keys()
        return Update(set=stored, remove=sorted(old), condition="attribute_exists(#PK)")


def _dependents_item(ref: TaskRef, edges: NewEdges) -> Item:
    return {**key_item(dependents_key(ref)), "tasks": list(edges.after)}
