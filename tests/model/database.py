"""What the state table holds in the model, and the drafts through which one step changes it.

Every write is a `Transition` of `domain/*/transitions.py`, applied by `domain.transition.attempt`,
as the in-memory store applies it. The model adds one thing: it maps times to few values.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from switchyard.domain.ids import JobRef, makers_of
from switchyard.domain.jobs.job import Job, JobPicture
from switchyard.domain.tasks.task import Outcome, Task
from switchyard.domain.transition import Transition, TransitionRefused, attempt, holds
from tests.model import invariants

JOB: Final = JobRef("tenant", "job-1")
SOME_TIME: Final = 1
"""Stands for every time that no guard compares with a clock."""

Wake = tuple[str, str, int, bool]
"""A message: its queue, the name of the task, its run, and whether an event sent it."""

Mutation = Callable[[Transition], Transition]


class NoTags(dict[str, str]):
    """Makes a job hashable: the model has no tags."""

    def __hash__(self) -> int:  # type: ignore[override]
        return 0


@dataclass(frozen=True, slots=True)
class Database:
    job: Job
    tasks: tuple[Task | None, ...]
    dependents: tuple[tuple[str, ...], ...]
    """The dependents of each task, in the same order."""


@dataclass(frozen=True, slots=True)
class Clocks:
    """The values that a clock may show; a lease or a pause that begins then ends one later.

    Nobody's clock agrees with another's: each step may use any of them. A lease that would outlast
    the last value ends before it, so that no lease and no pause lasts for ever.
    """

    values: tuple[int, ...] = (1, 3)

    @property
    def late(self) -> int:
        return self.values[-1]

    def bounded(self, moment: int) -> int:
        return min(moment, self.late - 1)


@dataclass(slots=True)
class Draft:
    """The table while one step reads and writes it, and the messages that the step sends."""

    names: Mapping[str, int]
    job: Job
    tasks: list[Task | None]
    dependents: list[tuple[str, ...]]
    clocks: Clocks
    mutate: Mutation
    may_run_again: bool = False
    sent: list[Wake] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    def find(self, name: str) -> Task | None:
        place = self.names.get(name)
        return None if place is None else self.tasks[place]

    def task(self, name: str) -> Task:
        found = self.find(name)
        assert found is not None, name
        return found

    def dependents_of(self, name: str) -> tuple[str, ...]:
        return self.dependents[self.names[name]]

    @property
    def known(self) -> Iterator[Task]:
        return (task for task in self.tasks if task is not None)

    def picture(self) -> JobPicture:
        return JobPicture(job=self.job, tasks=tuple(self.known), depends_on={})

    def allows(self, item: Task | Job, transition: Transition) -> bool:
        """Tell whether a transition that is part of a transaction may be written."""
        return holds(self.mutate(transition).guard, item)

    def write(
        self, name: str, transition: Transition, *, now: int = SOME_TIME, owner: str = ""
    ) -> Task | TransitionRefused[Task]:
        """Write to a task; `owner` is who writes under a lease, `now` is what its clock shows."""
        old = self.task(name)
        answer = attempt(old, self.mutate(transition))
        if isinstance(answer, TransitionRefused) or answer is old:
            return answer
        new = bounded_task(answer, self.clocks)
        self.tasks[self.names[name]] = new
        change = invariants.Change(
            transition.name, old, new, now, owner, self.parents_of(name), self.may_run_again
        )
        self.problems.extend(invariants.broken_by(change))
        return new

    def write_job(self, transition: Transition) -> Job | TransitionRefused[Job]:
        old = self.job
        answer = attempt(old, self.mutate(transition))
        if isinstance(answer, Job) and answer is not old:
            self.job = bounded_job(answer)
            self.problems.extend(invariants.broken_by_job(transition.name, old, self.job))
            return self.job
        return answer

    def wake_worker(self, task: Task) -> None:
        self.sent.append(("tasks", task.ref.task_id, 0, False))

    def wake_dispatcher(self, task: Task, *, by_event: bool) -> None:
        """An event wakes it too; nobody hears of a hidden task by an event."""
        if not (by_event and task.ref.hidden):
            self.sent.append(("dispatch", task.ref.task_id, task.run, by_event))

    def advance_job(self) -> None:
        self.sent.append(("jobs", "", 0, False))

    def parents_of(self, name: str) -> tuple[Task, ...]:
        """Return whom a task waits for: a fan-out for its items, once they may run."""
        known = list(self.known)
        before = (task for task in known if name in self.dependents_of(task.ref.task_id))
        present = (task for task in before if not invariants.is_of_earlier_list(task, known))
        return tuple(task for task in present if task.ref.fan_out != name or self.may_run(task))

    def may_run(self, task: Task) -> bool:
        """Tell whether it is not of a fan-out that is still being written, or was never opened."""
        if task.ref.hidden and invariants.is_of_earlier_list(task, list(self.known)):
            return False
        owners = [self.find(name) for name in makers_of(task.ref.task_id) if name in self.names]
        return all(owner is None or owner.child_count is not None for owner in owners)


def bounded_task(task: Task, clocks: Clocks) -> Task:
    """Map what only clocks and readers look at to few values."""
    return replace(
        task,
        lease_until_ms=clocks.bounded(task.lease_until_ms),
        not_before_ms=clocks.bounded(task.not_before_ms),
        held_until_ms=clocks.bounded(task.held_until_ms),
        ready_at_ms=_some_time(task.ready_at_ms),
        started_at_ms=_some_time(task.started_at_ms),
        settled_at_ms=_some_time(task.settled_at_ms),
        due_at_ms=_some_time(task.due_at_ms),
        ready_order=task.ready_order and "2#1",
        resends=0,
        last_error=None,
        outcome=_bounded_outcome(task.outcome),
    )


def bounded_job(job: Job) -> Job:
    return replace(
        job,
        settled_at_ms=_some_time(job.settled_at_ms),
        reopened_at_ms=_some_time(job.reopened_at_ms),
        failure_detected_at_ms=_some_time(job.failure_detected_at_ms),
        due_at_ms=_some_time(job.due_at_ms),
        tags=NoTags(),
    )


def _bounded_outcome(outcome: Outcome | None) -> Outcome | None:
    return outcome and Outcome(state=outcome.state, error_category=outcome.error_category)


def _some_time(moment: int | None) -> int | None:
    return None if moment is None else SOME_TIME
