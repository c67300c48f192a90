"""Makes the tasks of a fan-out, some items at a time, and gathers what they made.

Every step may run again at any point, also twice at once: items are written where nothing is
stored, and what they are depends on the list alone. A crash leaves the fan-out ready and due.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from switchyard.domain.errors import InvalidJob, Rejected, TooMuch, UnknownJob
from switchyard.domain.fan_out.fan_outs import (
    MAX_GATHERED_BYTES,
    MAX_LIST_BYTES,
    FanOut,
    fan_out_of,
)
from switchyard.domain.fan_out.gathering import failed, gathered
from switchyard.domain.fan_out.items import Items, NotExpandable, arranged, ids_in, items_of
from switchyard.domain.fan_out.plan import Expansion, plan_expansion, start_of
from switchyard.domain.fan_out.requests import tasks_read_by
from switchyard.domain.jobs.job import Job
from switchyard.domain.jobs.limits import MAX_WITH_ITEMS
from switchyard.domain.jobs.plan import FIRST_RUN, items_in, part_of
from switchyard.domain.prompts.artifacts import gathered_key
from switchyard.domain.states import TaskState
from switchyard.domain.tasks import due
from switchyard.domain.tasks.task import Json, Outcome, Payload, Task, TaskRun
from switchyard.domain.text import in_slices
from switchyard.ports import (
    BlobStore,
    Clock,
    DispatchQueue,
    FanOuts,
    JobIntake,
    JobStore,
    Payloads,
    TaskGraph,
)
from switchyard.usecases.access.limits import OpenTaskLimit
from switchyard.usecases.dispatching.list_files import ListFiles
from switchyard.usecases.events import task_events
from switchyard.usecases.events.emitting import Emitter
from switchyard.usecases.jobs.expand_job import ITEMS_AT_ONCE, LEAST_SECONDS

READ_AT_ONCE: Final = 1_000
"""Outputs: small ones of so many tasks fit into a function's memory."""
EMPTY: Final[Json] = []


@dataclass(frozen=True, kw_only=True)
class FanOutTasks:
    fan_outs: FanOuts
    intake: JobIntake
    jobs: JobStore
    graph: TaskGraph
    payloads: Payloads
    blobs: BlobStore
    open_tasks: OpenTaskLimit
    dispatches: DispatchQueue
    emitter: Emitter
    clock: Clock

    def wake(self, ready: Sequence[Task]) -> None:
        """Leave ready fan-outs to a dispatcher that has time for them."""
        self.dispatches.send([task.this_run for task in ready])

    def go_on(self, task: Task, *, until: float) -> Task:
        """Make the tasks of a ready fan-out, or gather them if they were made.

        What is left when `until` has passed comes with another wake-up. Return the fan-out as it
        is, if this has ended it.
        """
        payload = self.payloads.read(task.ref)
        fan_out = fan_out_of(payload.fan_out)
        if task.child_count is not None:
            return self._gather(task, fan_out)
        try:
            items = self._items(task, fan_out, payload)
        except (NotExpandable, Rejected) as problem:
            return self._end(task, failed(str(problem)))
        if not items.each:
            self.emitter.emit(task_events.expanded(task, items=0))
            return self._end(task, Outcome(state=TaskState.COMPLETED), EMPTY)
        return self._expand(task, fan_out, items, payload, until)

    def _items(self, task: Task, fan_out: FanOut, payload: Payload) -> Items:
        wanted = tasks_read_by(fan_out)
        outputs = self.payloads.outputs(task.ref.job, wanted, max_bytes=MAX_LIST_BYTES)
        in_file: Sequence[Json] = ()
        if fan_out.in_file:
            in_file = ListFiles(self.graph, self.blobs).read(task, fan_out.for_each[0])
        name = task.ref.task_id
        items = items_of(fan_out, payload.input, outputs, task_id=name, in_file=in_file)
        total = self._job(task).total_tasks + len(items.each)
        if total > MAX_WITH_ITEMS:
            raise NotExpandable(
                f"forEach: with these {len(items.each):,} items the job has {total:,} tasks; it "
                f"may have {MAX_WITH_ITEMS:,}"
            )
        return items

    def _expand(
        self,
        task: Task,
        fan_out: FanOut,
        items: Items,
        payload: Payload,
        until: float,
    ) -> Task:
        job = self._job(task)
        if not self._has_room(job, task, len(items.each)):
            return task
        expansion = plan_expansion(
            job, task, items, template=payload, tolerated=not fan_out.tolerate.none
        )
        if self._written(task, expansion, until):
            self._open(task, expansion)
        return task

    def _has_room(self, job: Job, task: Task, items: int) -> bool:
        """Count the tasks before the first is written; `False` if the tenant has too many."""
        if task.expanded is not None:
            return True
        try:
            self.open_tasks.take_more(job, added=items)
        except InvalidJob as problem:
            later = self.clock.now_ms() + due.AFTER_READY
            self.fan_outs.delay(task, f"waits for room: {problem}", due_at_ms=later)
            return False
        return True

    def _written(self, task: Task, expansion: Expansion, until: float) -> bool:
        """Write what is left, at least one part; `False` when there is more, or it changed.

        That it has begun is stored before the first part: from then on its input is settled.
        """
        plan, begun = expansion.plan, task
        if task.expanded is None:
            task = self.fan_outs.note_expanded(task, 0, now_ms=self.clock.now_ms())
        while (task.state, task.run) == (TaskState.READY, begun.run):
            first = task.expanded or 0
            if first >= items_in(plan):
                return True
            if first > (begun.expanded or 0) and self.clock.monotonic() >= until:
                self.dispatches.send([task.this_run])
                return False
            part = part_of(plan, first=first, at_most=ITEMS_AT_ONCE)
            seconds = max(LEAST_SECONDS, until - self.clock.monotonic())
            self.intake.write_part(part, seconds=seconds)
            written = min(first + ITEMS_AT_ONCE, items_in(plan))
            task = self.fan_outs.note_expanded(task, written, now_ms=self.clock.now_ms())
        return False

    def _open(self, task: Task, expansion: Expansion) -> None:
        """Emit first, as always: then others may hear of its tasks from elsewhere."""
        self.emitter.emit(task_events.expanded(task, items=expansion.child_count))
        if self.fan_outs.open(task, expansion, now_ms=self.clock.now_ms()):
            self.dispatches.send([TaskRun(start_of(task.ref), FIRST_RUN)])

    def _gather(self, task: Task, fan_out: FanOut) -> Task:
        shape = self.payloads.read(start_of(task.ref)).input
        ids = ids_in(shape, task.ref.task_id)
        states = self._states(task, ids)
        outcome = gathered(states, fan_out.tolerate)
        if outcome.state is not TaskState.COMPLETED:
            return self._end(task, outcome)
        try:
            values = self._outputs(task, states)
        except TooMuch:
            return self._end(task, failed(_too_much(len(ids))))
        return self._end(task, outcome, arranged(shape, values))

    def _states(self, task: Task, ids: Sequence[str]) -> Mapping[str, TaskState]:
        """Read the items, all of which have settled: nothing changes them in this run."""
        states: dict[str, TaskState] = {}
        for some in in_slices(ids, READ_AT_ONCE):
            found = self.graph.find_many([task.ref.job.task(name) for name in some])
            states |= {name: found[name].state for name in some}
        return states

    def _outputs(self, task: Task, states: Mapping[str, TaskState]) -> Iterator[Json]:
        """Return them in order, and null for each that did not complete. Raise `TooMuch`."""
        made: dict[str, Json] = {}
        left = MAX_GATHERED_BYTES
        completed = [name for name, state in states.items() if state is TaskState.COMPLETED]
        for some in in_slices(completed, READ_AT_ONCE):
            outputs = self.payloads.outputs(task.ref.job, some, max_bytes=max(left, 0))
            left -= sum(len(_content(value)) + 1 for value in outputs.values())
            made |= outputs
        if left < 0:
            raise TooMuch(MAX_GATHERED_BYTES)
        return iter([made.get(name) for name in states])

    def _end(self, task: Task, outcome: Outcome, output: Json = None) -> Task:
        """The output is stored before the end that refers to it, and the event emitted after."""
        key = None
        if outcome.state is TaskState.COMPLETED:
            content = _content(output)
            digest = hashlib.sha256(content).hexdigest()
            ref = task.ref
            key = gathered_key(ref.tenant, ref.request_id, run=task.run, digest=digest)
            self.blobs.put(key, content, content_type="application/json")
        now_ms = self.clock.now_ms()
        ended = self.fan_outs.gather(task, outcome, output_key=key, now_ms=now_ms)
        if ended is None:
            return task
        self.emitter.emit(task_events.settled(ended, output=output))
        return ended

    def _job(self, task: Task) -> Job:
        job = self.jobs.find(task.ref.job)
        if job is None:
            raise UnknownJob(task.ref.job_id)
        return job


def _content(value: Json) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def _too_much(items: int) -> str:
    return (
        f"the outputs of {items:,} items have more than {MAX_GATHERED_BYTES:,} bytes together: let "
        "each make a file and return its name"
    )
