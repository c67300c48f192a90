"""Ends a held task by a person's decision or a program's signal."""

import json
from dataclasses import dataclass

from switchyard.contracts.changes import MAX_VALUE_BYTES, DecideTask, SignalTask, TaskDecided
from switchyard.contracts.json_schema import mismatch
from switchyard.domain.errors import Conflict, InvalidDecision, Problem, Unavailable
from switchyard.domain.ids import TaskRef
from switchyard.domain.states import TaskKind, TaskState, task_status
from switchyard.domain.tasks.holds import (
    Decision,
    Hold,
    decided,
    ended_otherwise,
    problem_with_decision,
)
from switchyard.domain.tasks.task import Json, Task
from switchyard.ports import Clock, Ids, TaskGraph
from switchyard.usecases.events import task_events
from switchyard.usecases.events.emitting import Emitter
from switchyard.usecases.jobs.held_task import HeldTask, HeldTaskReader


@dataclass(frozen=True, kw_only=True)
class TaskDecider:
    reader: HeldTaskReader
    graph: TaskGraph
    emitter: Emitter
    clock: Clock
    ids: Ids

    def decide(self, ref: TaskRef, request: DecideTask, *, by: str) -> TaskDecided:
        """Approve or reject. Raise `Conflict` if something else was decided, or decided on."""
        held = self.reader.read(ref)
        if held.task.kind is not TaskKind.APPROVAL:
            raise Conflict(ended_otherwise(held.task))
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
        held = self.reader.read(ref)
        if held.task.kind is not TaskKind.SIGNAL:
            raise Conflict(ended_otherwise(held.task))
        decision = Decision(
            decision_id=request.request_id or self.ids.new_secret(),
            by=by,
            value=request.value,
            has_value=True,
        )
        return self._end(held, decision, run=request.run)

    def _end(self, held: HeldTask, decision: Decision, *, run: int | None = None) -> TaskDecided:
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
