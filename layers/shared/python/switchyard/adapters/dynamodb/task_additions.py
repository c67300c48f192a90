"""Writes of tasks that are added to a job, and of tasks of other producers."""

from collections.abc import Collection, Iterator
from typing import Final

from botocore.exceptions import ClientError

from switchyard.adapters.aws import TRANSACTION_CANCELLED, code_of
from switchyard.adapters.dynamodb.items import (
    DEPENDENTS_PREFIX,
    TASK_PREFIX,
    dependents_key,
    field_attribute,
    job_from,
    job_key,
    task_from,
    task_item,
    task_key,
)
from switchyard.adapters.dynamodb.payloads import DynamoDbPayloads
from switchyard.adapters.dynamodb.table import DynamoDbTable, Update, as_new, key_item
from switchyard.adapters.dynamodb.transition_writes import Write, write_of
from switchyard.adapters.dynamodb.values import Item
from switchyard.domain.errors import AnswerLost, Conflict, UnknownJob
from switchyard.domain.ids import END, JobRef
from switchyard.domain.jobs import transitions as of_jobs
from switchyard.domain.jobs.adoption import Adoption
from switchyard.domain.jobs.chunks import Change, Chunk, ChunkContext, ExistingTask
from switchyard.domain.tasks import edge_transitions
from switchyard.domain.tasks.task import Payload, Task

_TOO_MUCH: Final = frozenset({"ValidationException", TRANSACTION_CANCELLED})


class DynamoDbTaskAdditions:
    def __init__(self, table: DynamoDbTable, payloads: DynamoDbPayloads) -> None:
        self._table = table
        self._payloads = payloads

    def chunk_context(self, ref: JobRef, names: Collection[str]) -> ChunkContext:
        refs = [ref.task(name) for name in sorted({END, *names})]
        keys = [job_key(ref), *map(task_key, refs), *map(dependents_key, refs)]
        found = {item["SK"]: item for item in self._table.get_many(keys)}
        job = found.get(job_key(ref)[1])
        if job is None:
            raise UnknownJob(ref.job_id)
        existing_tasks = {
            name: ExistingTask(task_from(task, ref), tuple(_dependents(found, name)))
            for name in {END, *names}
            if (task := found.get(f"{TASK_PREFIX}{name}"))
        }
        end = existing_tasks.pop(END, None)
        return ChunkContext(
            job=job_from(job, ref.tenant),
            end=end.task if end else None,
            existing_tasks=existing_tasks,
        )

    def add(self, chunk: Chunk) -> bool:
        try:
            return self._table.transact(*self._writes(chunk)) or self._was_added(chunk)
        except AnswerLost:
            if self._was_added(chunk):
                return True
            raise
        except ClientError as error:
            if code_of(error) not in _TOO_MUCH:
                raise
            raise Conflict(_too_much(chunk)) from error

    def _was_added(self, chunk: Chunk) -> bool:
        """Return whether the relay of this number is the chunk's own, from an earlier try."""
        relay = chunk.relay.ref
        return bool(self._payloads.read(relay).input == chunk.added.payload().input)

    def _writes(self, chunk: Chunk) -> Iterator[Write]:
        job = chunk.job.ref
        added = len(chunk.added.task_ids)
        grown = of_jobs.add_tasks(chunk.job, added=added, most_before=chunk.most_before)
        yield write_of(job, grown)
        end = edge_transitions.follow_relay(chunk.end, chunk.relay, instead_of=chunk.moved)
        yield write_of(chunk.end.ref, end)
        for task in chunk.new_tasks:
            yield as_new(_item(task))
        for name, dependents in chunk.dependents.items():
            key = key_item(dependents_key(job.task(name)))
            yield as_new({**key, "tasks": list(dependents)})
        for name, payload in chunk.payloads.items():
            yield as_new(self._payloads.new_item(job.task(name), payload))
        for change in chunk.changes:
            yield from _of_member(change)


def _too_much(chunk: Chunk) -> str:
    names = ", ".join(chunk.added.task_ids)
    return f"{names}: what is written for them, and for those they follow, is too much at once"


def _dependents(found: dict[str, Item], name: str) -> list[str]:
    names: list[str] = found.get(f"{DEPENDENTS_PREFIX}{name}", {}).get("tasks", [])
    return names


def _of_member(change: Change) -> Iterator[Write]:
    task = change.existing.task
    yield write_of(task.ref, edge_transitions.stay_parent(task))
    yield dependents_key(task.ref), _moved(change) if change.moves else _followed(change)


def _moved(change: Change) -> Update:
    return Update(
        set={"tasks": list(change.dependents)},
        condition="#tasks = :as_read",
        values={"as_read": list(change.existing.dependents)},
    )


def _followed(change: Change) -> Update:
    """Append only the new dependents: a transaction takes 4 MB, and parents may have many."""
    return Update(
        append={"tasks": list(change.further)},
        condition="size(#tasks) = :as_read",
        values={"as_read": len(change.existing.dependents)},
    )


def _item(task: Task) -> Item:
    outcome = {"outcome": field_attribute(task.outcome)} if task.outcome else {}
    return task_item(task) | outcome


class DynamoDbTaskAdoption:
    def __init__(self, table: DynamoDbTable, payloads: DynamoDbPayloads) -> None:
        self._table = table
        self._payloads = payloads

    def adopt(self, adoption: Adoption) -> bool:
        ref = adoption.task.ref
        given = Payload(input=adoption.input, context=adoption.context)
        payload = self._payloads.new_item(ref, given)
        return self._table.transact(as_new(task_item(adoption.task)), as_new(payload))
