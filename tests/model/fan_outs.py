"""A task that makes two others and gathers them (`usecases/dispatching/fan_outs.py`).

When it reads its list anew, that has one item as before, a new one, and one item less.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from switchyard.domain.fan_out.fan_outs import FanOut, Tolerance
from switchyard.domain.fan_out.gathering import gathered
from switchyard.domain.fan_out.items import items_of
from switchyard.domain.fan_out.plan import Expansion, opening_of, plan_expansion, start_of
from switchyard.domain.ids import FAN_PREFIX
from switchyard.domain.jobs.graph import TaskSpec
from switchyard.domain.jobs.plan import Pinned
from switchyard.domain.nested_jobs.expansion import ended, plan_job_task
from switchyard.domain.nested_jobs.job_templates import JobTemplate
from switchyard.domain.states import TaskKind, TaskState
from switchyard.domain.tasks import fan_out_transitions
from switchyard.domain.tasks import transitions as of_tasks
from switchyard.domain.tasks.task import Outcome, Payload, Task
from tests.model import functions
from tests.model.database import SOME_TIME, Draft, bounded_task
from tests.model.functions import Todo, followed

FAN_OUT: Final = "f"
NESTED: Final = "n"
TOLERATED: Final = Tolerance(count=1)
_FROM_A_LIST: Final = FanOut(for_each=("${input.items}",), key=("${item}",), tolerate=TOLERATED)
_LISTS: Final = ([0, 1], [1, 2])
"""The list as it is read at first, and as it is read anew."""
_PARTS: Final = 2
"""The start and the first task are written at once, then the second task."""
_TEMPLATE: Final = JobTemplate(
    tasks=(TaskSpec(task_id="a", name=""), TaskSpec(task_id="b", name="", depends_on=("a",))),
    pinned={"": Pinned(1, 1)},
)


def fan_out() -> tuple[TaskSpec, ...]:
    """One task, which makes two."""
    given = {"items": _LISTS[0]}
    return (TaskSpec(task_id=FAN_OUT, name="", input=given, fan_out=_FROM_A_LIST),)


def nested_job() -> tuple[TaskSpec, ...]:
    """One task, which makes two of a template, the second after the first."""
    return (TaskSpec(task_id=NESTED, name="", nested=True),)


def made_by(specs: Sequence[TaskSpec], *, again: bool) -> tuple[str, ...]:
    """Return the names of everything that these tasks may make, once or twice."""
    found: list[str] = []
    for spec in specs:
        if not (spec.fan_out or spec.nested):
            continue
        name = spec.task_id
        keys = ("a", "b") if spec.nested else ("0", "1", *(["2"] if again else []))
        found += [f"{FAN_PREFIX}{name}", *(f"{name}[{key}]" for key in keys)]
        found += [f"{FAN_PREFIX}{name}[~r2]"] if again else []
    return tuple(found)


@dataclass(frozen=True, slots=True)
class Write:
    """Writes a part of the tasks, where nothing is stored (`FanOutTasks._written`)."""

    task: Task

    def run(self, rest: Todo, draft: Draft) -> Todo:
        part = self.task.expanded or 0
        if part < _PARTS:
            expansion = _expansion(self.task, draft)
            start, first, second = (task.ref.task_id for task in expansion.plan.tasks)
            _store((second,) if part else (start, first), expansion, draft)
            return (Note(self.task, part + 1), *rest)
        return (*earlier_settled(self.task, draft), FindEarlier(self.task), *rest)


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
class SettleEarlier:
    """Replaces or ends an item of an earlier list (`EarlierItems._settle`)."""

    task: Task
    name: str

    def run(self, rest: Todo, draft: Draft) -> Todo:
        plan = _expansion(self.task, draft).plan
        item = next((one for one in plan.tasks if one.ref.task_id == self.name), None)
        if item is None:
            items_run = self.task.first_item_run
            drop = fan_out_transitions.drop_item(items_run=items_run, now_ms=SOME_TIME)
            dropped = draft.write(self.name, drop)
            return (ForgetDropped(dropped), *rest) if isinstance(dropped, Task) else rest
        before = draft.task(self.name)
        if draft.write(self.name, fan_out_transitions.replace_item(item)) is not before:
            draft.dependents[draft.names[self.name]] = plan.dependents[self.name]
        return rest


@dataclass(frozen=True, slots=True)
class ForgetDropped:
    """Clears the due time of an item whose event was emitted (`EarlierItems._settle`)."""

    task: Task

    def run(self, rest: Todo, draft: Draft) -> Todo:
        draft.write(self.task.ref.task_id, of_tasks.clear_due(self.task))
        return rest


@dataclass(frozen=True, slots=True)
class FindEarlier:
    """Looks whether an item of an earlier list is left (`EarlierItems.settled`)."""

    task: Task

    def run(self, rest: Todo, draft: Draft) -> Todo:
        if earlier_settled(self.task, draft):
            draft.wake_dispatcher(self.task, by_event=False)
            return rest
        return (Open(self.task), *rest)


def earlier_settled(task: Task, draft: Draft) -> Todo:
    """Return what is to be done about the items of an earlier list."""
    return tuple(
        SettleEarlier(task, one.ref.task_id)
        for one in draft.known
        if one.ref.fan_out == task.ref.task_id and one.run < task.first_item_run
    )


@dataclass(frozen=True, slots=True)
class Open:
    """Lets all of them run, in one transaction (`FanOuts.open`)."""

    task: Task

    def run(self, rest: Todo, draft: Draft) -> Todo:
        expansion = _expansion(self.task, draft)
        opening, started, grown = opening_of(self.task, expansion, now_ms=SOME_TIME)
        start = start_of(self.task).task_id
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
    names = [one.ref.task_id for one in _expansion(task, draft).plan.tasks if not one.ref.hidden]
    states = {name: draft.task(name).state for name in names}
    found = ended(states) if task.kind is TaskKind.JOB else gathered(states, TOLERATED)
    return Outcome(state=found.state, error_category=found.error_category)


def _expansion(task: Task, draft: Draft) -> Expansion:
    if task.kind is TaskKind.JOB:
        return plan_job_task(draft.job, task, _TEMPLATE, None)
    items = items_of(_FROM_A_LIST, {"items": _list_of(task)}, {}, task_id=FAN_OUT)
    return plan_expansion(draft.job, task, items, template=Payload(), tolerated=True)


def _list_of(task: Task) -> list[int]:
    return _LISTS[task.items_run is not None]


def _store(names: tuple[str, ...], expansion: Expansion, draft: Draft) -> None:
    """What is there stays as it is."""
    for task in expansion.plan.tasks:
        name = task.ref.task_id
        place = draft.names[name]
        if name in names and draft.tasks[place] is None:
            draft.tasks[place] = bounded_task(task, draft.clocks)
            draft.dependents[place] = expansion.plan.dependents[name]
