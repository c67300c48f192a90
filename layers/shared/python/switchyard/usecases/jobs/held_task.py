"""Reads what a held task waits for, and what a person decides on."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Final

from switchyard.contracts.changes import DecisionView, ShownParent
from switchyard.contracts.wire import instant
from switchyard.domain.errors import Conflict, TooMuch, UnknownTask
from switchyard.domain.ids import TaskRef
from switchyard.domain.states import TaskKind, TaskState, task_status
from switchyard.domain.tasks.holds import Hold, OnTimeout, basis_of, hold_of, never_held
from switchyard.domain.tasks.task import Json, Payload, Task
from switchyard.domain.text import plain_text
from switchyard.ports import BlobStore, JobStore, Payloads, TaskGraph
from switchyard.usecases.jobs.task_files import MOST_FILES

MAX_SHOWN_PARENTS: Final = 20
MAX_SHOWN_BYTES: Final = 1_000_000
MAX_EXCERPT: Final = 2_000
"""Characters of an output that are shown."""
COST_OF_AT_MOST: Final = 1_000
"""The cost of a job with more tasks is not added up to show one of them."""


@dataclass(frozen=True, slots=True)
class HeldTask:
    task: Task
    hold: Hold
    payload: Payload
    parents: Mapping[str, Task]

    @property
    def basis(self) -> str:
        return basis_of(self.task, self.hold, self.parents.values())


@dataclass(frozen=True, kw_only=True)
class HeldTaskReader:
    jobs: JobStore
    graph: TaskGraph
    payloads: Payloads
    blobs: BlobStore

    def view(self, ref: TaskRef) -> DecisionView:
        """Show what is decided on. Raise `UnknownTask`, or `Conflict` where nothing is decided."""
        held = self.read(ref)
        task, hold = held.task, held.hold
        asks = task.kind is TaskKind.APPROVAL
        return DecisionView(
            job_id=ref.job_id,
            task_id=ref.task_id,
            kind=hold.kind,
            status=task_status(task.state, attempt=task.attempt),
            run=task.run,
            question=hold.question,
            held_until=instant(task.held_until_ms or None),
            on_timeout=hold.on_timeout if asks else OnTimeout.FAIL,
            on_reject=hold.on_reject if asks else None,
            value_schema=dict(hold.value_schema) if hold.value_schema else None,
            basis=held.basis,
            parents=self._shown(held),
            job_cost_usd=self._cost(ref),
        )

    def read(self, ref: TaskRef) -> HeldTask:
        """Raise `UnknownTask`, or `Conflict` for a task that a worker runs."""
        task = None if ref.hidden else self.graph.find(ref)
        if task is None:
            raise UnknownTask(f"{ref.task_id} in {ref.job_id}")
        if task.kind is None or task.fans_out:
            raise Conflict(never_held(task))
        payload = self.payloads.read(ref)
        parents = self.graph.find_many([ref.job.task(name) for name in set(payload.depends_on)])
        return HeldTask(task, hold_of(task.kind, payload.hold), payload, parents)

    def _shown(self, held: HeldTask) -> tuple[ShownParent, ...]:
        names = [name for name in held.payload.depends_on if name in held.parents]
        first = names[:MAX_SHOWN_PARENTS]
        try:
            job = held.task.ref.job
            outputs = self.payloads.outputs(job, first, max_bytes=MAX_SHOWN_BYTES)
        except TooMuch:
            outputs = {}
        return tuple(self._shown_parent(held.parents[name], outputs) for name in first)

    def _shown_parent(self, parent: Task, outputs: Mapping[str, Json]) -> ShownParent:
        name = parent.ref.task_id
        shown = ShownParent(task_id=name, status=task_status(parent.state, attempt=parent.attempt))
        if parent.state is not TaskState.COMPLETED:
            return shown
        prefix = parent.outcome.artifacts if parent.outcome else None
        files = tuple(self._names_below(prefix)) if prefix else ()
        output = outputs.get(name)
        text = json.dumps(output, ensure_ascii=False)
        short = len(text) > MAX_EXCERPT or name not in outputs
        excerpt = plain_text(text[:MAX_EXCERPT]) if short else output
        return shown.model_copy(update={"output": excerpt, "files": files, "shortened": short})

    def _names_below(self, prefix: str) -> list[str]:
        listed = islice(self.blobs.listed(prefix), MOST_FILES)
        return [blob.key.removeprefix(prefix) for blob in listed]

    def _cost(self, ref: TaskRef) -> float:
        job = self.jobs.find(ref.job)
        if job is None or job.total_tasks > COST_OF_AT_MOST:
            return 0.0
        tasks = self.jobs.picture(ref.job).visible_tasks
        return sum(task.outcome.usage.cost_usd for task in tasks if task.outcome)
