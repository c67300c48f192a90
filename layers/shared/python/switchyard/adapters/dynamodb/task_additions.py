"""Tasks that join a job: one transaction for all that is written together."""

from collections.abc import Collection, Iterator
from typing import Final

from botocore.exceptions import ClientError

from switchyard.adapters.aws import TRANSACTION_CANCELLED, code_of
from switchyard.adapters.dynamodb.items import (
    DEPENDENTS_PREFIX,
    TASK_PREFIX,
    dependents_key,
    job_from,
    job_key,
    outcome_attribute,
    task_from,
    task_item,
    task_key,
)
from switchyard.adapters.dynamodb.payloads import DynamoDbPayloads
from switchyard.adapters.dynamodb.table import DynamoDbTable, Key, Update, as_new, key_item
from switchyard.adapters.dynamodb.values import Item
from switchyard.domain.errors import AnswerLost, Conflict, UnknownJob
from switchyard.domain.ids import END, JobRef
from switchyard.domain.jobs.chunks import Change, Chunk, Member, Surroundings
from switchyard.domain.states import SETTLED, JobState, TaskState
from switchyard.domain.tasks.task import Task

_TOO_MUCH: Final = frozenset({"ValidationException", TRANSACTION_CANCELLED})
_UNSETTLED: Final = tuple(state for state in TaskState if state not in SETTLED)

Write = tuple[Key, Update]


class DynamoDbTaskAdditions:
    def __init__(self, table: DynamoDbTable, payloads: DynamoDbPayloads) -> None:
        self._table = table
        self._payloads = payloads

    def surroundings(self, ref: JobRef, names: Collection[str]) -> Surroundings:
        refs = [ref.task(name) for name in sorted({END, *names})]
        keys = [job_key(ref), *map(task_key, refs), *map(dependents_key, refs)]
        found = {item["SK"]: item for item in self._table.get_many(keys)}
        job = found.get(job_key(ref)[1])
        if job is None:
            raise UnknownJob(ref.job_id)
        members = {
            name: Member(task_from(task, ref), tuple(_dependents(found, name)))
            for name in {END, *names}
            if (task := found.get(f"{TASK_PREFIX}{name}"))
        }
        end = members.pop(END, None)
        return Surroundings(
            job=job_from(job, ref.tenant), end=end.task if end else None, members=members
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
        """Nobody else adds the same tasks at the same time under the same number."""
        relay = chunk.relay.ref
        return bool(self._payloads.read(relay).input == chunk.added.payload().input)

    def _writes(self, chunk: Chunk) -> Iterator[Write]:
        job = chunk.job.ref
        yield job_key(job), _of_job(chunk)
        yield task_key(chunk.end.ref), _of_end(chunk)
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


def _of_job(chunk: Chunk) -> Update:
    return Update(
        add={"total_tasks": len(chunk.added.task_ids), "additions": 1},
        condition="#state = :open AND #run = :run AND attribute_not_exists(#cancel_requested) "
        "AND attribute_not_exists(#redrive_key) AND #total_tasks <= :most_before",
        values={"open": JobState.OPEN, "run": chunk.job.run, "most_before": chunk.most_before},
    )


def _of_end(chunk: Chunk) -> Update:
    """As a whole only if one leaves it: else it may be told meanwhile that others settled."""
    waits = "#state = :waiting AND #run = :run"
    values = {"waiting": TaskState.WAITING, "run": chunk.end.run}
    if chunk.moved is None:
        return Update(add={"waiting_on": {chunk.relay.token}}, condition=waits, values=values)
    return Update(
        set={"waiting_on": chunk.end_waits_on},
        condition=f"{waits} AND #waiting_on = :as_read",
        values=values | {"as_read": chunk.end.waiting_on},
    )


def _of_member(change: Change) -> Iterator[Write]:
    task = change.member.task
    yield task_key(task.ref), _as_read(task)
    yield dependents_key(task.ref), _moved(change) if change.moves else _followed(change)


def _moved(change: Change) -> Update:
    return Update(
        set={"tasks": list(change.dependents)},
        condition="#tasks = :as_read",
        values={"as_read": list(change.member.dependents)},
    )


def _followed(change: Change) -> Update:
    """No more than what is new is sent: a transaction takes 4 MB, and parents may have many."""
    return Update(
        append={"tasks": list(change.further)},
        condition="size(#tasks) = :as_read",
        values={"as_read": len(change.member.dependents)},
    )


def _as_read(task: Task) -> Update:
    """Unsettled or not is what matters: who runs it may go on meanwhile."""
    states = [task.state] if task.state.settled else _UNSETTLED
    values = {f"state_{number}": state for number, state in enumerate(states)}
    return Update(
        condition=f"#run = :run AND #state IN ({', '.join(f':{name}' for name in values)})",
        values={"run": task.run, **values},
    )


def _item(task: Task) -> Item:
    outcome = {"outcome": outcome_attribute(task.outcome)} if task.outcome else {}
    return task_item(task) | outcome
