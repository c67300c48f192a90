"""Makes the tasks of a fan-out or a job, some at a time, and gathers what they made.

Every step may run again at any point, also twice at once: tasks are written where nothing is
stored, and what they are depends on the list, or the template and its input, alone. A crash leaves
the task that makes them ready and due.
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
from switchyard.domain.fan_out.items import NotExpandable, arranged, ids_in, items_of
from switchyard.domain.fan_out.plan import Expansion, plan_expansion, start_of
from switchyard.domain.fan_out.requests import tasks_read_by
from switchyard.domain.ids import in_scope
from switchyard.domain.jobs.job import Job
from switchyard.domain.jobs.limits import MAX_WITH_ITEMS
from switchyard.domain.jobs.plan import FIRST_RUN, items_in, part_of
from switchyard.domain.nested_jobs.expansion import ended
from switchyard.domain.prompts.artifacts import gathered_key
from switchyard.domain.prompts.references import UnresolvedReference
from switchyard.domain.states import TaskKind, TaskState
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
    Parallel,
    Payloads,
    TaskGraph,
)
from switchyard.usecases.access.limits import OpenTaskLimit
from switchyard.usecases.dispatching.earlier_items import EarlierItems
from switchyard.usecases.dispatching.list_files import ListFiles
from switchyard.usecases.dispatching.nested_jobs import NestedJobs
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
    nested: NestedJobs
    open_tasks: OpenTaskLimit
    dispatches: DispatchQueue
    emitter: Emitter
    clock: Clock
    parallel: Parallel

    @property
    def earlier(self) -> EarlierItems:
        return EarlierItems(
            fan_outs=self.fan_outs,
            graph=self.graph,
            jobs=self.jobs,
            dispatches=self.dispatches,
            emitter=self.emitter,
            clock=self.clock,
            parallel=self.parallel,
        )

    def wake(self, ready: Sequence[Task]) -> None:
        """Leave ready fan-outs to a dispatcher that has time for them."""
        self.dispatches.send([task.this_run for task in ready])

    def go_on(self, task: Task, *, until: float) -> Task:
        """Make the tasks of a ready fan-out, or gather them if they were made.

        What is left when `until` has passed comes with another wake-up. Return the fan-out as it
        is, if this has ended it.
        """
        payload = self.payloads.read(task.ref)
        if task.child_count is not None:
            return self._gather(task, payload)
        try:
            expansion = self._planned(self._job(task), task, payload)
        except (NotExpandable, Rejected) as problem:
            return self._end(task, failed(str(problem)))
        if not expansion.child_count and task.items_run is None:
            self.emitter.emit(task_events.expanded(task, items=0))
            return self._end(task, Outcome(state=TaskState.COMPLETED), EMPTY)
        if (
            self._has_room(task, expansion)
            and self._written(task, expansion, until)
            and self.earlier.settled(task, expansion, until=until)
        ):
            self._open(task, expansion)
        return task

    def _planned(self, job: Job, task: Task, payload: Payload) -> Expansion:
        """Return everything that is to be written. Raise `NotExpandable` or `Rejected`."""
        nested = task.kind is TaskKind.JOB
        expansion = (
            self.nested.planned(job, task, payload)
            if nested
            else self._of_items(job, task, fan_out_of(payload.fan_out), payload)
        )
        total = job.total_tasks + expansion.child_count
        if total > MAX_WITH_ITEMS:
            field, made = ("name", "tasks") if nested else ("forEach", "items")
            raise NotExpandable(
                f"{field}: with these {expansion.child_count:,} {made} the job has {total:,} "
                f"tasks; it may have {MAX_WITH_ITEMS:,}"
            )
        self.earlier.require_room(task, expansion)
        return expansion

    def _of_items(self, job: Job, task: Task, fan_out: FanOut, payload: Payload) -> Expansion:
        wanted = {in_scope(payload.scope, name): name for name in tasks_read_by(fan_out)}
        found = self.payloads.outputs(task.ref.job, list(wanted), max_bytes=MAX_LIST_BYTES)
        outputs = {wanted[name]: value for name, value in found.items()}
        in_file: Sequence[Json] = ()
        if fan_out.in_file:
            files = ListFiles(self.graph, self.blobs, scope=payload.scope)
            in_file = files.read(task, fan_out.for_each[0])
        name = task.ref.task_id
        return plan_expansion(
            job,
            task,
            items_of(fan_out, payload.input, outputs, task_id=name, in_file=in_file),
            template=payload,
            tolerated=not fan_out.tolerate.none,
            of_jobs=fan_out.of_jobs,
        )

    def _has_room(self, task: Task, expansion: Expansion) -> bool:
        """Count the tasks before the first is written; `False` if the tenant has too many."""
        if task.expanded is not None:
            return True
        try:
            self.open_tasks.take_more(expansion.plan.job, added=expansion.child_count)
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
            self.dispatches.send([TaskRun(start_of(task), FIRST_RUN)])

    def _gather(self, task: Task, payload: Payload) -> Task:
        shape = self.payloads.read(start_of(task)).input
        ids = ids_in(shape, task.ref.task_id)
        states = self._states(task, ids)
        nested = task.kind is TaskKind.JOB
        outcome = (
            ended(states) if nested else gathered(states, fan_out_of(payload.fan_out).tolerate)
        )
        if outcome.state is not TaskState.COMPLETED:
            return self._end(task, outcome)
        try:
            output = (
                self.nested.output(task) if nested else arranged(shape, self._outputs(task, states))
            )
        except UnresolvedReference as problem:
            return self._end(task, failed(f"output: {problem}"))
        except TooMuch:
            return self._end(task, failed(_too_much(len(ids), "tasks" if nested else "items")))
        return self._end(task, outcome, output)

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


def _too_much(count: int, made: str) -> str:
    return (
        f"the outputs of {count:,} {made} have more than {MAX_GATHERED_BYTES:,} bytes together: "
        "let each make a file and return its name"
    )
