"""The steps of a Lambda function: what is left to do of one invocation, an operation at a time.

Reading and writing are apart, so that others come in between. Each operation names the use case
that it mirrors. What has to be done in one order is done in that order.
"""

from dataclasses import dataclass, replace
from typing import Protocol

from switchyard.domain.ids import END
from switchyard.domain.jobs import job
from switchyard.domain.jobs import transitions as of_jobs
from switchyard.domain.jobs.job import Job
from switchyard.domain.states import JobState, TaskState
from switchyard.domain.tasks import edge_transitions, held_transitions, readiness
from switchyard.domain.tasks import transitions as of_tasks
from switchyard.domain.tasks.task import Outcome, Task
from switchyard.domain.transition import TransitionRefused
from tests.model.database import SOME_TIME, Draft


class Operation(Protocol):
    """One step of an invocation, with what it has read before."""

    def run(self, rest: "Todo", draft: Draft) -> "Todo":
        """Carry it out; return what is left to do, of which `rest` was left before."""


Todo = tuple[Operation, ...]
"""The operations that are left, in order."""


@dataclass(frozen=True, slots=True)
class Edge:
    """Removes one edge (`remove_edges.py`, `EdgeRemover.remove_from`)."""

    parent: Task
    child: str
    cancelled: bool
    quiet: bool

    def run(self, rest: Todo, draft: Draft) -> Todo:
        followed_one = readiness.SettledParent(self.parent, (self.child,))
        tokens = readiness.tokens_by_child([followed_one])[self.child]
        child = _as_it_is(draft.write(self.child, edge_transitions.remove_edges(tokens)))
        if readiness.is_free(child):
            decide = Decide(child, _lost(child, draft), self.parent, self.cancelled, self.quiet)
            return _after_edges(rest, decide)
        return _moved(child, self, rest, draft)


@dataclass(frozen=True, slots=True)
class Decide:
    """Decides a task that waits for nothing (`remove_edges.py`, `EdgeRemover._decide`)."""

    child: Task
    lost: tuple[Task, ...]
    parent: Task
    cancelled: bool
    quiet: bool

    def run(self, rest: Todo, draft: Draft) -> Todo:
        lost = {task.ref.task_id: task for task in self.lost}
        verdict = readiness.decide_readiness(self.child, lost, job_cancelled=self.cancelled)
        decision = of_tasks.decide(self.child, verdict, now_ms=SOME_TIME)
        child = _as_it_is(draft.write(self.child.ref.task_id, decision))
        if readiness.is_free(child):
            again = replace(self, child=child, lost=_lost(child, draft))
            return (again, *rest) if again != self else rest
        return _moved(child, self, rest, draft)


@dataclass(frozen=True, slots=True)
class Mark:
    """Marks a task whose message was sent (`start_tasks.py`, `Starter._mark`)."""

    task: Task

    def run(self, rest: Todo, draft: Draft) -> Todo:
        draft.write(self.task.ref.task_id, of_tasks.mark_queued(self.task, now_ms=SOME_TIME))
        return rest


@dataclass(frozen=True, slots=True)
class HoldTask:
    """Holds a task whose event was emitted (`held_tasks.py`, `HeldTasks.hold`)."""

    task: Task

    def run(self, rest: Todo, draft: Draft) -> Todo:
        held_until_ms = draft.clocks.values[0]
        draft.write(
            self.task.ref.task_id, held_transitions.hold(self.task, held_until_ms=held_until_ms)
        )
        return rest


@dataclass(frozen=True, slots=True)
class WakeFanOut:
    """Leaves a fan-out to a dispatcher that has time (`fan_outs.py`, `FanOutTasks.wake`)."""

    task: Task

    def run(self, rest: Todo, draft: Draft) -> Todo:
        draft.wake_dispatcher(self.task, by_event=False)
        return rest


@dataclass(frozen=True, slots=True)
class EndHold:
    """Ends a held task whose time is up (`held_tasks.py`, `HeldTasks.end_overdue`)."""

    task: Task

    def run(self, rest: Todo, draft: Draft) -> Todo:
        ended = resolved(self.task, TaskState.FAILED, None, draft)
        return rest if ended is None else (*followed(ended, draft), *rest)


@dataclass(frozen=True, slots=True)
class NoteFailure:
    """Notes the first failure (`settle_job.py`, `JobSettler.tell_first_failure`)."""

    job: Job
    task_id: str

    def run(self, rest: Todo, draft: Draft) -> Todo:
        note = of_jobs.note_failure(self.job, task_id=self.task_id, now_ms=SOME_TIME)
        draft.write_job(note)
        return rest


@dataclass(frozen=True, slots=True)
class ReadOutcome:
    """Reads how the tasks of a job ended (`settle_job.py`, `JobSettler.settle`)."""

    end: Task

    def run(self, rest: Todo, draft: Draft) -> Todo:
        now = draft.task(END)
        if (now.run, now.state) != (self.end.run, self.end.state):
            return rest
        tasks = [task for task in draft.picture().visible_tasks if not task.ref.fan_out]
        outcome = job.decide_job_outcome({task.state for task in tasks})
        return (SettleJob(draft.job, outcome, self.end), *rest)


@dataclass(frozen=True, slots=True)
class SettleJob:
    """Writes how a job ended (`settle_job.py`, `JobSettler.settle`)."""

    job: Job
    outcome: JobState
    end: Task

    def run(self, rest: Todo, draft: Draft) -> Todo:
        draft.write_job(of_jobs.settle(self.job, self.outcome, now_ms=SOME_TIME))
        if not draft.job.state.settled:
            return rest
        if draft.job.redrive_key:
            draft.advance_job()
        return rest if self.end.due_at_ms is None else (ClearDue(self.end), *rest)


@dataclass(frozen=True, slots=True)
class ClearDue:
    """Removes a due time (`dispatch_task.py`, `Dispatcher._clear_due`)."""

    task: Task

    def run(self, rest: Todo, draft: Draft) -> Todo:
        draft.write(self.task.ref.task_id, of_tasks.clear_due(self.task))
        return rest


@dataclass(frozen=True, slots=True)
class Follow:
    """Follows what was settled by following (`dispatch_task.py`, `Dispatcher._follow_all`)."""

    task: Task
    cancelled: bool
    quiet: bool

    def run(self, rest: Todo, draft: Draft) -> Todo:
        edges = edges_to_follow(self.task, draft, cancelled=self.cancelled, quiet=self.quiet)
        return (*edges, *rest)


Start = Mark | HoldTask | WakeFanOut


def carry_out(todo: Todo, draft: Draft) -> Todo:
    """Carry out the first operation; return what is left.

    What only reads whom a settled task wakes is done with the operation before it.
    """
    left = todo[0].run(todo[1:], draft)
    while left and isinstance(left[0], Follow):
        left = left[0].run(left[1:], draft)
    return left


def dispatched(name: str, run: int, draft: Draft, *, by_event: bool) -> Todo:
    """Read a task that the dispatcher was woken for (`dispatch_task.py`, `Dispatcher.dispatch`)."""
    task = draft.find(name)
    if task is None or task.run != run:
        return ()
    cancelled = draft.job.being_cancelled
    todo: list[Operation] = []
    if not by_event and not cancelled and task.state is TaskState.READY:
        todo.append(started(task, draft))
    if not by_event and task.state is TaskState.HELD:
        todo.append(EndHold(task))
    if task.state.settled and not (by_event and task.due_at_ms is None):
        todo += followed(task, draft)
    return tuple(todo)


def started(task: Task, draft: Draft) -> "Start":
    """Send the message of a ready task, or hold it if no worker runs it."""
    if task.fans_out:
        return WakeFanOut(task)
    if task.kind is not None:
        return HoldTask(task)
    draft.wake_worker(task)
    return Mark(task)


def followed(task: Task, draft: Draft) -> Todo:
    """Note a settled task's failure, if it is one, before its edges are followed."""
    noted = task.state.failure and task.due_at_ms is not None and not task.tolerated
    first = (NoteFailure(draft.job, task.ref.task_id),) if noted else ()
    cancelled = draft.job.being_cancelled
    return (*first, *edges_to_follow(task, draft, cancelled=cancelled, quiet=False))


def resolved(task: Task, state: TaskState, decision: str | None, draft: Draft) -> Task | None:
    """End a held task as it was read, and emit that; `None` if another was faster."""
    ending = held_transitions.resolve(
        task, Outcome(state=state), now_ms=SOME_TIME, decision=decision
    )
    answer = draft.write(task.ref.task_id, ending)
    if isinstance(answer, TransitionRefused):
        return None
    draft.wake_dispatcher(answer, by_event=True)
    return answer


def edges_to_follow(task: Task, draft: Draft, *, cancelled: bool, quiet: bool) -> Todo:
    """Read whom a settled task wakes; a quiet cancellation leaves it due."""
    name = task.ref.task_id
    children = () if name == END else draft.dependents_of(name)
    edges = tuple(Edge(task, child, cancelled, quiet) for child in children)
    return edges if quiet else (*edges, *_last(task))


def _last(task: Task) -> Todo:
    """A task whose due time is gone already has nothing left to clear."""
    if task.ref.task_id == END:
        return (ReadOutcome(task),)
    return () if task.due_at_ms is None else (ClearDue(task),)


def _moved(child: Task, by: Edge | Decide, rest: Todo, draft: Draft) -> Todo:
    """Start what is ready, emit and follow what was settled by that."""
    if child.state is TaskState.READY and not by.cancelled and not by.quiet:
        return _before_clearing(rest, by.parent, started(child, draft))
    if readiness.settled_by_following(child):
        if not by.quiet:
            draft.wake_dispatcher(child, by_event=True)
        return (*rest, Follow(child, by.cancelled, by.quiet))
    return rest


def _lost(child: Task, draft: Draft) -> tuple[Task, ...]:
    if child.ref.task_id == END:
        return ()
    return tuple(draft.task(name) for name in sorted(child.not_completed))


def _after_edges(rest: Todo, decide: Decide) -> Todo:
    """Every edge is removed before anything is decided."""
    edges = next((n for n, one in enumerate(rest) if not isinstance(one, Edge)), len(rest))
    return (*rest[:edges], decide, *rest[edges:])


def _before_clearing(rest: Todo, parent: Task, mark: "Start") -> Todo:
    """Everything is decided before something is marked, and a due time is removed last."""
    place = next((n for n, one in enumerate(rest) if one == ClearDue(parent)), 0)
    return (*rest[:place], mark, *rest[place:])


def _as_it_is(answer: Task | TransitionRefused[Task]) -> Task:
    found = answer.found if isinstance(answer, TransitionRefused) else answer
    assert found is not None
    return found
