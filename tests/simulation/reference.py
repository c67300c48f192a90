"""A second opinion on how a job must end, worked out from what its producer declared.

One task after the other, parents first; no queues, no relays, no crashes. It shares nothing with
the scheduler but the names of states and rules.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from graphlib import TopologicalSorter

from switchyard.domain.states import JobState, Rule, TaskState
from tests.simulation.held import Held, When

States = Mapping[str, TaskState]

FAILURES = {TaskState.FAILED, TaskState.TIMED_OUT}
REDRIVEN_UNLESS_SAID = {*FAILURES, TaskState.CANCELLED}
AGAIN = "from "
"""Before the id of a task that is selected to run with everything after it."""


@dataclass(frozen=True, slots=True)
class Declared:
    """A task as its producer sees it."""

    task_id: str
    parents: tuple[str, ...] = ()
    rule: Rule = Rule.ALL_COMPLETED
    list_of: str | None = None
    """The parent whose list it makes tasks of, if it does."""
    tolerate: int = 0
    """How many of those may fail."""
    held: Held | None = None
    """What ends it, where no worker runs it."""
    when: When | None = None
    inner: tuple["Declared", ...] = ()
    """The tasks of its own, under the ids that they have, if it is a job."""


@dataclass(frozen=True, slots=True)
class Reopening:
    """What a redrive does before anything runs."""

    again: frozenset[str]
    """Everything that ends anew."""
    whatever_its_rule: frozenset[str]
    """The tasks among `again` that follow no other of them."""


def ends(
    tasks: Collection[Declared],
    *,
    verdicts: States,
    cancelled: Collection[str] = (),
    before: States | None = None,
    items: Mapping[str, Collection[TaskState]] | None = None,
    approved: Mapping[str, bool] | None = None,
    reopening: Reopening | None = None,
) -> dict[str, TaskState]:
    """`verdicts` says how those end that run; `before` how the others ended, in an earlier run.

    `items` are the ends of what each fan-out has made, if it has, and `approved` says of each
    approval what was decided.
    """
    made = items or {}
    listless = {task.task_id for task in tasks if task.held or task.list_of}
    again = reopening.again if reopening else frozenset()
    states = {name: state for name, state in (before or {}).items() if name not in again}
    for task in _parents_first(tasks):
        if task.task_id in states:
            continue
        if task.task_id in cancelled:
            states[task.task_id] = TaskState.CANCELLED
        elif _goes_on(task, states, made, reopening) or _may_run(
            task.rule, [states[p] for p in task.parents]
        ):
            judged = None if _goes_on(task, states, made, reopening) else task.when
            ended = judged.end(states, approved or {}) if judged else None
            if ended is None:
                inner = {name: states[name] for name in _ids(task.inner) if name in states}
                within = partial(ends, verdicts=verdicts, cancelled=cancelled, reopening=reopening)
                states |= within(task.inner, before=inner)
            states[task.task_id] = ended or _verdict(task, states, verdicts, made, listless)
        else:
            states[task.task_id] = TaskState.SKIPPED
    return states


def _goes_on(
    task: Declared,
    states: States,
    made: Mapping[str, Collection[TaskState]],
    reopening: Reopening | None,
) -> bool:
    """Tell whether neither its rule nor its condition is asked: it is redriven itself, or gathers
    what it made before."""
    if reopening is None:
        return False
    gathers = task.task_id in made or not states.keys().isdisjoint(_ids(task.inner))
    return task.task_id in reopening.whatever_its_rule or gathers


def _verdict(
    task: Declared,
    states: States,
    verdicts: States,
    made: Mapping[str, Collection[TaskState]],
    listless: Collection[str],
) -> TaskState:
    """`listless` are those whose output has no list as a member: a fan-out's is one itself."""
    if task.inner:
        lost = {*FAILURES, TaskState.CANCELLED}.intersection(map(states.get, _ids(task.inner)))
        return TaskState.FAILED if lost else TaskState.COMPLETED
    if task.list_of is None:
        return verdicts[task.task_id]
    return _gathered(task, states, made, listless)


def _ids(tasks: Iterable[Declared]) -> list[str]:
    return [task.task_id for task in tasks]


def everything(tasks: Iterable[Declared]) -> list[Declared]:
    """Return these and the tasks within them."""
    return [one for task in tasks for one in (task, *task.inner)]


def _gathered(
    task: Declared,
    states: States,
    items: Mapping[str, Collection[TaskState]],
    listless: Collection[str],
) -> TaskState:
    """How a fan-out ends: it needs a list, which only a worker returns, and few failures."""
    if states[task.list_of or ""] is not TaskState.COMPLETED or task.list_of in listless:
        return TaskState.FAILED
    ended = items.get(task.task_id, ())
    lost = sum(state is not TaskState.COMPLETED for state in ended)
    return TaskState.COMPLETED if lost <= task.tolerate else TaskState.FAILED


def outcome(states: States) -> JobState:
    if TaskState.CANCELLED in states.values():
        return JobState.CANCELLED
    return JobState.FAILED if FAILURES.intersection(states.values()) else JobState.COMPLETED


def reopened(
    tasks: Collection[Declared], states: States, selected: Collection[str] = ()
) -> Reopening:
    """Return the selected tasks, or all that did not succeed, and what follows from them."""
    unless_said = {name for name in states if states[name] in REDRIVEN_UNLESS_SAID}
    asked = {name.removeprefix(AGAIN) for name in selected if name.startswith(AGAIN)}
    named = {name for name in selected if not name.startswith(AGAIN)} if selected else unless_said
    whole = {name.partition("[")[0] for name in asked}
    again = {name.partition("[")[0] for name in named} | whole
    first = _followed(tasks, states, again, whole)
    for task in tasks:
        within = {*_ids(task.inner)}
        if task.task_id in asked or whole.intersection(task.parents):
            again |= within  # they are made anew
            continue
        again |= within & ((unless_said if task.task_id in named else named) | asked)
        known = [one for one in task.inner if one.task_id in states]
        first |= _followed(known, states, again, within & asked)
    return Reopening(frozenset(again), frozenset(again & first))


def _followed(
    tasks: Collection[Declared], states: States, again: set[str], whole: set[str]
) -> set[str]:
    """Add what follows from those that end anew; return those that follow none of them."""
    for task in _parents_first(tasks):
        stays = states[task.task_id] is TaskState.COMPLETED
        if whole.intersection(task.parents):
            whole.add(task.task_id)
        if whole.intersection(task.parents) or (not stays and again.intersection(task.parents)):
            again.add(task.task_id)
    return {task.task_id for task in tasks if not again.intersection(task.parents)}


def _may_run(rule: Rule, parents: list[TaskState]) -> bool:
    match rule:
        case Rule.ANY_FAILED:
            return bool(FAILURES.intersection(parents))
        case Rule.NONE_FAILED:
            return not FAILURES.intersection(parents)
        case Rule.ANY_COMPLETED:
            return not parents or TaskState.COMPLETED in parents
    return rule is Rule.ALL_SETTLED or set(parents) <= {TaskState.COMPLETED}


def _parents_first(tasks: Iterable[Declared]) -> list[Declared]:
    known = {task.task_id: task for task in tasks}
    order = TopologicalSorter({name: known[name].parents for name in known}).static_order()
    return [known[name] for name in order]
