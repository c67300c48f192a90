"""Shows what a held task waits for, and ends it by a person's decision or a program's signal."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from switchyard.contracts.changes import (
    MAX_VALUE_BYTES,
    DecideTask,
    DecisionView,
    ShownParent,
    SignalTask,
    TaskDecided,
)
from switchyard.contracts.jobs import instant
from switchyard.contracts.json_schema import mismatch
from switchyard.domain.errors import (
    Conflict,
    InvalidDecision,
    Problem,
    TooMuch,
    Unavailable,
    UnknownTask,
)
from switchyard.domain.ids import TaskRef
from switchyard.domain.states import TaskKind, TaskState, task_status
from switchyard.domain.tasks.holds import (
    Decision,
    Hold,
    OnTimeout,
    basis_of,
    decided,
    hold_of,
    problem_with_decision,
)
from switchyard.domain.tasks.task import Json, Payload, Task
from switchyard.domain.text import plain_text
from switchyard.ports import Clock, Ids, JobStore, Payloads, TaskGraph
from switchyard.usecases.events import task_events
from switchyard.usecases.events.emitting import Emitter
from switchyard.usecases.jobs.task_files import TaskFiles

MAX_SHOWN_PARENTS: Final = 20
MAX_SHOWN_BYTES: Final = 1_000_000
MAX_EXCERPT: Final = 2_000
"""Characters of an output that are shown."""
COST_OF_AT_MOST: Final = 1_000
"""The cost of a job with more tasks is not added up to show one of them."""


@dataclass(frozen=True, slots=True)
class _Held:
    task: Task
    hold: Hold
    payload: Payload
    parents: Mapping[str, Task]

    @property
    def basis(self) -> str:
        return basis_of(self.task, self.hold, self.parents.values())


@dataclass(frozen=True, kw_only=True)
class TaskDecider:
    jobs: JobStore
    graph: TaskGraph
    payloads: Payloads
    files: TaskFiles
    emitter: Emitter
    clock: Clock
    ids: Ids

    def view(self, ref: TaskRef) -> DecisionView:
        """Show what is decided on. Raise `UnknownTask`, or `Conflict` where nothing is decided."""
        held = self._read(ref)
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

    def decide(self, ref: TaskRef, request: DecideTask, *, by: str) -> TaskDecided:
        """Approve or reject. Raise `Conflict` if something else was decided, or decided on."""
        held = self._read(ref)
        if held.task.kind is not TaskKind.APPROVAL:
            raise Conflict(f"{ref.task_id} is a {held.task.kind}, which nobody approves")
        decision = Decision(
            decision_id=request.request_id or self.ids.new_secret(),
            by=f"{request.decided_by} ({by})" if request.decided_by else by,
            approved=request.approved,
            comment=request.comment,
            value=request.value,
            has_value=request.gives_value,
        )
        if held.task.decision != decision.decision_id and request.basis != held.basis:
            raise Conflict(
                f"what {ref.task_id} decides on has changed since it was read: look at it again"
            )
        return self._end(held, decision)

    def signal(self, ref: TaskRef, request: SignalTask, *, by: str) -> TaskDecided:
        """Give a signal; its value becomes the output. Raise `Conflict` if none is waited for."""
        held = self._read(ref)
        if held.task.kind is not TaskKind.SIGNAL:
            raise Conflict(f"{ref.task_id} is no signal: it is {held.task.kind}")
        decision = Decision(
            decision_id=request.request_id or self.ids.new_secret(),
            by=by,
            value=request.value,
            has_value=True,
        )
        return self._end(held, decision, run=request.run)

    def _read(self, ref: TaskRef) -> _Held:
        task = None if ref.hidden else self.graph.find(ref)
        if task is None:
            raise UnknownTask(f"{ref.task_id} in {ref.job_id}")
        if task.kind is None or task.fans_out:
            raise Conflict(f"{ref.task_id} is neither an approval nor a signal: a worker runs it")
        payload = self.payloads.read(ref)
        parents = self.graph.find_many([ref.job.task(name) for name in set(payload.depends_on)])
        return _Held(task, hold_of(task.kind, payload.hold), payload, parents)

    def _end(self, held: _Held, decision: Decision, *, run: int | None = None) -> TaskDecided:
        task, now_ms = held.task, self.clock.now_ms()
        if task.decision == decision.decision_id:
            return self._answer(task, held.payload.output, repeated=True)
        problem = problem_with_decision(task, run=run, now_ms=now_ms)
        if problem:
            raise Conflict(problem)
        _require_fitting(decision, held.hold)
        since_ms = task.ready_at_ms or now_ms
        resolution = decided(held.hold, decision, held_since_ms=since_ms, now_ms=now_ms)
        ended = self.graph.resolve(task, resolution, now_ms=now_ms, decision=decision.decision_id)
        if ended is None:
            raise self._too_late(task)
        self.emitter.emit(task_events.settled(ended, output=resolution.output))
        return self._answer(ended, resolution.output)

    def _too_late(self, task: Task) -> Conflict | Unavailable:
        now = self.graph.find(task.ref)
        problem = now and problem_with_decision(now, run=task.run, now_ms=self.clock.now_ms())
        return Conflict(problem) if problem else Unavailable(f"{task.ref.request_id} changed")

    def _answer(self, task: Task, output: Json, *, repeated: bool = False) -> TaskDecided:
        return TaskDecided(
            job_id=task.ref.job_id,
            task_id=task.ref.task_id,
            request_id=task.ref.request_id,
            status=task_status(task.state, attempt=task.attempt),
            output=output if task.state is TaskState.COMPLETED else None,
            repeated=repeated,
        )

    def _shown(self, held: _Held) -> tuple[ShownParent, ...]:
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
        files = tuple(file.name for file in self.files.below(prefix)) if prefix else ()
        output = outputs.get(name)
        text = json.dumps(output, ensure_ascii=False)
        short = len(text) > MAX_EXCERPT or name not in outputs
        excerpt = plain_text(text[:MAX_EXCERPT]) if short else output
        return shown.model_copy(update={"output": excerpt, "files": files, "shortened": short})

    def _cost(self, ref: TaskRef) -> float:
        job = self.jobs.find(ref.job)
        if job is None or job.total_tasks > COST_OF_AT_MOST:
            return 0.0
        tasks = self.jobs.picture(ref.job).visible_tasks
        return sum(task.outcome.usage.cost_usd for task in tasks if task.outcome)


def _require_fitting(decision: Decision, hold: Hold) -> None:
    if not decision.has_value:
        return
    size = len(json.dumps(decision.value, ensure_ascii=False).encode("utf-8", "surrogatepass"))
    if size > MAX_VALUE_BYTES:
        said = f"has {size:,} bytes; at most {MAX_VALUE_BYTES:,} are accepted"
        raise InvalidDecision([Problem(("value",), said)])
    problem = mismatch(decision.value, hold.value_schema) if hold.value_schema else None
    if problem:
        raise InvalidDecision([Problem(("value",), f"does not match its schema: {problem}")])
