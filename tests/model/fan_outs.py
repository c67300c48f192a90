"""A task that makes two others and gathers them (`usecases/dispatching/fan_outs.py`)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from switchyard.domain.fan_out.fan_outs import FanOut, Tolerance
from switchyard.domain.fan_out.gathering import gathered
from switchyard.domain.fan_out.items import items_of
from switchyard.domain.fan_out.plan import Expansion, opening_of, plan_expansion
from switchyard.domain.ids import FAN_PREFIX
from switchyard.domain.jobs.graph import TaskSpec
from switchyard.domain.jobs.plan import FIRST_RUN, Pinned
from switchyard.domain.nested_jobs.expansion import ended, plan_job_task
from switchyard.domain.nested_jobs.job_templates import JobTemplate
from switchyard.domain.states import TaskKind, TaskState
from switchyard.domain.tasks import fan_out_transitions
from switchyard.domain.tasks.task import Outcome, Payload, Task
from tests.model import functions
from tests.model.database import SOME_TIME, Draft, bounded_task
from tests.model.functions import Todo, followed

TOLERATED: Final = Tolerance(count=1)
_FROM_A_LIST: Final = FanOut(for_each=("${input.items}",), tolerate=TOLERATED)
_FAN_OUT: Final = TaskSpec(task_id="f", name="", input={"items": [0, 1]}, fan_out=_FROM_A_LIST)
_JOB: Final = TaskSpec(task_id="n", name="", nested=True)
_TEMPLATE: Final = JobTemplate(
    tasks=(TaskSpec(task_id="a", name=""), TaskSpec(task_id="b", name="", depends_on=("a",))),
    pinned={"": Pinned(1, 1)},
)


def fan_out() -> tuple[TaskSpec, ...]:
    """One task, which makes two."""
    return (_FAN_OUT,)


def nested_job() -> tuple[TaskSpec, ...]:
    """One task, which makes two of a template, the second after the first."""
    return (_JOB,)


def made_by(specs: Sequence[TaskSpec]) -> tuple[str, ...]:
    """Return the names of everything that these tasks make, the start of it first."""
    makers = [spec.task_id for spec in specs if spec.fan_out or spec.nested]
    return tuple(name for maker in makers for part in _parts(maker) for name in part)


def _parts(maker: str) -> tuple[tuple[str, ...], ...]:
    """Return what is written at once."""
    first, second = _tasks_of(maker)
    return ((_start(maker), first), (second,))


def _tasks_of(maker: str) -> tuple[str, str]:
    first, second = ("0", "1") if maker == _FAN_OUT.task_id else ("a", "b")
    return f"{maker}[{first}]", f"{maker}[{second}]"


def _start(maker: str) -> str:
    return f"{FAN_PREFIX}{maker}"


@dataclass(frozen=True, slots=True)
class Write:
    """Writes a part of the tasks, where nothing is stored (`FanOutTasks._written`)."""

    task: Task

    def run(self, rest: Todo, draft: Draft) -> Todo:
        part = self.task.expanded or 0
        parts = _parts(self.task.ref.task_id)
        if part < len(parts):
            _store(parts[part], _expansion(self.task, draft), draft)
            return (Note(self.task, part + 1), *rest)
        return (Open(self.task), *rest)


@dataclass(frozen=True, slots=True)
class Note:
    """Remembers how much is written (`FanOuts.note_expanded`)."""

    task: Task
    written: int

    def run(self, rest: Todo, draft: Draft) -> Todo:
        note = fan_out_transitions.note_expanded(self.task, self.written, now_ms=SOME_TIME)
        name = self.task.ref.task_id
        draft.write(name, note)
        now = draft.task(name)
        ours = (now.state, now.run) == (TaskState.READY, self.task.run)
        return (Write(now), *rest) if ours and now != self.task else rest


@dataclass(frozen=True, slots=True)
class Open:
    """Lets all of them run, in one transaction (`FanOuts.open`)."""

    task: Task

    def run(self, rest: Todo, draft: Draft) -> Todo:
        expansion = _expansion(self.task, draft)
        opening, started, grown = opening_of(self.task, expansion, now_ms=SOME_TIME)
        start = _start(self.task.ref.task_id)
        tasks = ((self.task.ref.task_id, opening), (start, started))
        as_read = all(draft.allows(draft.task(name), one) for name, one in tasks)
        if as_read and draft.allows(draft.job, grown):
            draft.write_job(grown)
            for name, one in tasks:
                draft.write(name, one)
            draft.wake_dispatcher(draft.task(start), by_event=False)
        return rest


@dataclass(frozen=True, slots=True)
class Gather:
    """Ends the fan-out as its items were read to have ended (`FanOutTasks._gather`)."""

    task: Task
    outcome: Outcome

    def run(self, rest: Todo, draft: Draft) -> Todo:
        ending = fan_out_transitions.gather(self.task, self.outcome, now_ms=SOME_TIME)
        answer = draft.write(self.task.ref.task_id, ending)
        if not isinstance(answer, Task):
            return rest
        draft.wake_dispatcher(answer, by_event=True)
        return (*followed(answer, draft), *rest)


def dispatched(name: str, run: int, draft: Draft, *, by_event: bool) -> Todo:
    """Go on with a ready fan-out; all other tasks are dispatched as ever."""
    task = draft.find(name)
    ready = task is not None and task.fans_out and task.state is TaskState.READY
    if task is None or not ready:
        return functions.dispatched(name, run, draft, by_event=by_event)
    if by_event or task.run != run or draft.job.being_cancelled:
        return ()
    if task.child_count is None:
        return (Write(task),)
    return (Gather(task, _outcome(task, draft)),)


def _outcome(task: Task, draft: Draft) -> Outcome:
    states = {name: draft.task(name).state for name in _tasks_of(task.ref.task_id)}
    found = ended(states) if task.kind is TaskKind.JOB else gathered(states, TOLERATED)
    return Outcome(state=found.state, error_category=found.error_category)


def _expansion(task: Task, draft: Draft) -> Expansion:
    if task.kind is TaskKind.JOB:
        return plan_job_task(draft.job, task, _TEMPLATE, None)
    items = items_of(_FROM_A_LIST, _FAN_OUT.input, {}, task_id=task.ref.task_id)
    return plan_expansion(draft.job, task, items, template=Payload(), tolerated=True)


def _store(names: tuple[str, ...], expansion: Expansion, draft: Draft) -> None:
    """What is there stays as it is."""
    for task in expansion.plan.tasks:
        name = task.ref.task_id
        place = draft.names[name]
        if name in names and draft.tasks[place] is None:
            assert task.run == FIRST_RUN
            draft.tasks[place] = bounded_task(task, draft.clocks)
            draft.dependents[place] = expansion.plan.dependents[name]
