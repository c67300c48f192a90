"""A task that makes two others and gathers them (`usecases/dispatching/fan_outs.py`)."""

from dataclasses import dataclass
from typing import Final

from switchyard.domain.fan_out.fan_outs import FanOut, Tolerance
from switchyard.domain.fan_out.gathering import gathered
from switchyard.domain.fan_out.items import items_of
from switchyard.domain.fan_out.plan import Expansion, opening_of, plan_expansion
from switchyard.domain.jobs.graph import TaskSpec
from switchyard.domain.jobs.plan import FIRST_RUN
from switchyard.domain.states import TaskState
from switchyard.domain.tasks import fan_out_transitions
from switchyard.domain.tasks.task import Outcome, Payload, Task
from tests.model import functions
from tests.model.database import SOME_TIME, Draft, bounded_task
from tests.model.functions import Todo, followed

FAN_OUT: Final = "f"
START: Final = "__fan-f"
ITEMS: Final = ("f[0]", "f[1]")
TOLERATED: Final = Tolerance(count=1)
_FROM_A_LIST: Final = FanOut(for_each=("${input.items}",), tolerate=TOLERATED)
_PARTS: Final = ((START, ITEMS[0]), (ITEMS[1],))
"""What is written at once."""


def fan_out() -> tuple[TaskSpec, ...]:
    """One task, which makes two."""
    given = {"items": [0, 1]}
    return (TaskSpec(task_id=FAN_OUT, name="", input=given, fan_out=_FROM_A_LIST),)


@dataclass(frozen=True, slots=True)
class Write:
    """Writes a part of the tasks, where nothing is stored (`FanOutTasks._written`)."""

    task: Task

    def run(self, rest: Todo, draft: Draft) -> Todo:
        part = self.task.expanded or 0
        if part < len(_PARTS):
            _store(_PARTS[part], _expansion(self.task, draft), draft)
            return (Note(self.task, part + 1), *rest)
        return (Open(self.task), *rest)


@dataclass(frozen=True, slots=True)
class Note:
    """Remembers how much is written (`FanOuts.note_expanded`)."""

    task: Task
    written: int

    def run(self, rest: Todo, draft: Draft) -> Todo:
        note = fan_out_transitions.note_expanded(self.task, self.written, now_ms=SOME_TIME)
        draft.write(FAN_OUT, note)
        now = draft.task(FAN_OUT)
        ours = (now.state, now.run) == (TaskState.READY, self.task.run)
        return (Write(now), *rest) if ours and now != self.task else rest


@dataclass(frozen=True, slots=True)
class Open:
    """Lets all of them run, in one transaction (`FanOuts.open`)."""

    task: Task

    def run(self, rest: Todo, draft: Draft) -> Todo:
        expansion = _expansion(self.task, draft)
        opening, started, grown = opening_of(self.task, expansion, now_ms=SOME_TIME)
        tasks = ((FAN_OUT, opening), (START, started))
        as_read = all(draft.allows(draft.task(name), one) for name, one in tasks)
        if as_read and draft.allows(draft.job, grown):
            draft.write_job(grown)
            for name, one in tasks:
                draft.write(name, one)
            draft.wake_dispatcher(draft.task(START), by_event=False)
        return rest


@dataclass(frozen=True, slots=True)
class Gather:
    """Ends the fan-out as its items were read to have ended (`FanOutTasks._gather`)."""

    task: Task
    outcome: Outcome

    def run(self, rest: Todo, draft: Draft) -> Todo:
        ending = fan_out_transitions.gather(self.task, self.outcome, now_ms=SOME_TIME)
        answer = draft.write(FAN_OUT, ending)
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
    return (Gather(task, _outcome(draft)),)


def _outcome(draft: Draft) -> Outcome:
    found = gathered({name: draft.task(name).state for name in ITEMS}, TOLERATED)
    return Outcome(state=found.state, error_category=found.error_category)


def _expansion(task: Task, draft: Draft) -> Expansion:
    (spec,) = fan_out()
    items = items_of(_FROM_A_LIST, spec.input, {}, task_id=FAN_OUT)
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
