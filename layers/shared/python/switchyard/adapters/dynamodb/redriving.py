"""The steps of a redrive on the job's and its tasks' items."""

from collections.abc import Mapping
from typing import Final

from switchyard.adapters.dynamodb.items import (
    DEPENDENTS_PREFIX,
    data_key,
    dependents_key,
    due_attributes,
    job_from,
    job_key,
    overrides_attribute,
    partition,
    task_from,
    task_item,
    task_key,
)
from switchyard.adapters.dynamodb.payloads import DynamoDbPayloads
from switchyard.adapters.dynamodb.table import DynamoDbTable, Refusal, Update, key_item
from switchyard.adapters.dynamodb.values import Item
from switchyard.contracts.tables import DUE_AT, DUE_SHARD
from switchyard.domain.errors import AnswerLost
from switchyard.domain.ids import JobRef, TaskRef
from switchyard.domain.jobs.job import Job
from switchyard.domain.jobs.redriving import NewEdges, RedrivePlan, Reopening, relay_task
from switchyard.domain.states import JobState, TaskState
from switchyard.domain.tasks import due
from switchyard.domain.tasks.task import Payload, Task

_THIS_REDRIVE: Final = "#redrive_key = :key"
_OF_THE_LAST_RUN: Final = (
    "cancel_requested",
    "outcome",
    "owner",
    "lease_until_ms",
    "not_before_ms",
    "last_error",
    "started_at_ms",
    "settled_at_ms",
    "resends",
)
_TOLD_OF_THE_LAST_RUN: Final = (
    "failure_detected_at_ms",
    "failed_task_id",
    "cancel_requested",
    "cancelled_by",
    "settled_at_ms",
)


class DynamoDbRedriving:
    def __init__(self, table: DynamoDbTable, payloads: DynamoDbPayloads) -> None:
        self._table = table
        self._payloads = payloads

    def edges(self, ref: JobRef) -> Mapping[str, tuple[str, ...]]:
        items = self._table.query(
            "#PK = :job AND begins_with(#SK, :dependents)",
            {"job": partition(ref), "dependents": DEPENDENTS_PREFIX},
        )
        return {item["SK"].removeprefix(DEPENDENTS_PREFIX): tuple(item["tasks"]) for item in items}

    def begin(self, job: Job, *, key: str, now_ms: int) -> bool:
        update = Update(
            set={"state": JobState.REDRIVING, "redrive_key": key, "written": 0}
            | due_attributes(job.ref.job_id, now_ms + due.JOB_BEING_CHANGED),
            condition="#state = :state AND #run = :run AND attribute_not_exists(#redrive_key)",
            values={"state": job.state, "run": job.run},
        )
        try:
            answer = self._table.update(job_key(job.ref), update)
        except AnswerLost:
            answer = Refusal(self._table.get(job_key(job.ref)))
            if (answer.item or {}).get("state") == job.state:
                raise
        item = answer.item if isinstance(answer, Refusal) else answer
        return (item or {}).get("redrive_key") == key

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
        updates = [(task_key(task), _next_run(task, reopening, now_ms))]
        if given is not None:
            updates.append((data_key(task), self._input(task, given)))
        if len(updates) == 1:
            answer = self._table.update(*updates[0])
            item = answer.item if isinstance(answer, Refusal) else answer
        else:
            self._table.transact(*updates)
            item = self._table.get(task_key(task))
        found = task_from(item, ref) if item else None
        return found if found and found.run == reopening.run + 1 else None

    def note(self, job: Job, *, written: int) -> None:
        self._table.update(
            job_key(job.ref),
            Update(
                set={"written": written},
                condition=f"{_THIS_REDRIVE} AND #written < :set_written",
                values={"key": job.redrive_key},
            ),
        )

    def open(self, job: Job, *, now_ms: int) -> Job | None:
        answer = self._table.update(
            job_key(job.ref),
            Update(
                set={"state": JobState.OPEN, "reopened_at_ms": now_ms}
                | due_attributes(job.ref.job_id, now_ms + due.JOB_BEING_CHANGED),
                remove=_TOLD_OF_THE_LAST_RUN,
                add={"run": 1},
                condition=f"{_THIS_REDRIVE} AND #state = :redriving",
                values={"key": job.redrive_key, "redriving": JobState.REDRIVING},
            ),
        )
        item = answer.item if isinstance(answer, Refusal) else answer
        found = job_from(item, job.ref.tenant) if item else None
        return found if found and found.redrive_key == job.redrive_key else None

    def end(self, job: Job, *, now_ms: int) -> bool:
        audit = due_attributes(job.ref.job_id, now_ms + due.JOB_AUDIT)
        answer = self._table.update(
            job_key(job.ref),
            Update(
                set={} if job.state.settled else audit,
                remove=("redrive_key",),
                condition=f"{_THIS_REDRIVE} AND #state = :state",
                values={"key": job.redrive_key, "state": job.state},
            ),
        )
        return not isinstance(answer, Refusal)

    def _add_edges(self, ref: TaskRef, edges: NewEdges) -> None:
        self._table.update(
            dependents_key(ref),
            Update(
                set={"tasks": list(edges.after)},
                condition="#tasks = :before",
                values={"before": list(edges.before)},
            ),
        )

    def _input(self, ref: TaskRef, given: Payload) -> Update:
        item = self._payloads.new_item(ref, given)
        stored: Item = {name: item[name] for name in ("input", "input_key") if name in item}
        return Update(
            set=stored,
            remove=sorted({"input", "input_key"} - stored.keys()),
            condition="attribute_exists(#PK)",
        )


def _next_run(ref: TaskRef, reopening: Reopening, now_ms: int) -> Update:
    waiting, lost = reopening.waiting_on, reopening.not_completed
    overrides = overrides_attribute(reopening.overrides)
    begun: Item = {"state": TaskState.WAITING, "waiting_on": waiting}
    if not waiting:
        begun = {"state": TaskState.READY, "ready_at_ms": now_ms} | due_attributes(
            ref.request_id, now_ms + due.AFTER_READY
        )
    left_out = {
        "waiting_on": not waiting,
        "not_completed": not lost,
        "overrides": not overrides,
        "ready_at_ms": bool(waiting),
        DUE_SHARD: bool(waiting),
        DUE_AT: bool(waiting),
    }
    return Update(
        set=begun | ({"not_completed": lost} if lost else {}) | overrides | {"attempt": 0},
        remove=(*_OF_THE_LAST_RUN, *(name for name, absent in left_out.items() if absent)),
        add={"run": 1, "fence": 1},
        condition="#state = :read AND #run = :run AND #fence = :fence",
        values={"read": reopening.state, "run": reopening.run, "fence": reopening.fence},
    )


def _dependents_item(ref: TaskRef, edges: NewEdges) -> Item:
    return {**key_item(dependents_key(ref)), "tasks": list(edges.after)}
