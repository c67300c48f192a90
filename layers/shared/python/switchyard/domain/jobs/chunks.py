"""A chunk of added tasks: everything that is written for it at once."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

from switchyard.domain.errors import Conflict, NotNow
from switchyard.domain.ids import ADDED_PREFIX
from switchyard.domain.jobs.job import Job
from switchyard.domain.jobs.limits import MAX_WITH_ITEMS
from switchyard.domain.states import JobState, TaskState
from switchyard.domain.tasks.task import Payload, Task


@dataclass(frozen=True, slots=True)
class ExistingTask:
    """A task that the job has, and who follows it."""

    task: Task
    dependents: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkContext:
    """The facts by which a chunk is planned. Each is as it was read, not all at one moment."""

    job: Job
    end: Task | None
    """The task `__end__` as read; `None` if it is not written yet."""
    existing_tasks: Mapping[str, ExistingTask]


@dataclass(frozen=True, slots=True, kw_only=True)
class AddedTasks:
    """The content of a chunk's relay, by which the event of the chunk can be emitted again."""

    task_ids: tuple[str, ...]
    previous_total: int
    job_run: int
    at_ms: int

    @property
    def total(self) -> int:
        return self.previous_total + len(self.task_ids)

    def payload(self) -> Payload:
        return Payload(
            input={
                "taskIds": list(self.task_ids),
                "previousTotalTasks": self.previous_total,
                "jobRun": self.job_run,
                "addedAtMs": self.at_ms,
            }
        )

    @classmethod
    def of(cls, payload: Payload) -> Self:
        return cls(
            task_ids=tuple(payload.input["taskIds"]),
            previous_total=payload.input["previousTotalTasks"],
            job_run=payload.input["jobRun"],
            at_ms=payload.input["addedAtMs"],
        )


@dataclass(frozen=True, slots=True)
class Change:
    """New dependents of a task of the job, which has to be as it was read."""

    existing: ExistingTask
    dependents: tuple[str, ...]

    @property
    def further(self) -> tuple[str, ...]:
        """Return the dependents to append; the task must still have as many as were read."""
        return self.dependents[len(self.existing.dependents) :]

    @property
    def moves(self) -> bool:
        """Whether one of those is another from now on: then each of them has to be as read."""
        return self.dependents[: len(self.existing.dependents)] != self.existing.dependents


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """New tasks that are all written in one transaction, or not at all."""

    job: Job
    """The job as read: it has to be open in that run, and neither cancelled nor redriven."""
    end: Task
    """The task `__end__` as read: it has to wait in that run, and waits for the relay as well."""
    moved: Task | None
    """A task that `__end__` waited for, and for which the relay waits instead."""
    relay: Task
    tasks: tuple[Task, ...]
    """The other new ones, relays among them."""
    dependents: Mapping[str, tuple[str, ...]]
    """The dependents of all new tasks, by task id."""
    payloads: Mapping[str, Payload]
    """The payloads of the tasks that have one: the tasks of people, and the chunk's relay."""
    changes: tuple[Change, ...]
    added: AddedTasks

    @property
    def new_tasks(self) -> tuple[Task, ...]:
        return (*self.tasks, self.relay)

    @property
    def number(self) -> int:
        return added_number(self.relay.ref.task_id)

    @property
    def most_before(self) -> int:
        """Return the most tasks that the job may have before, so that there is room for these."""
        return MAX_WITH_ITEMS - len(self.added.task_ids)


def open_end(job: Job, end: Task | None) -> Task:
    """Return `__end__` of a job that takes tasks. Raise `Conflict`, or `NotNow` if it passes."""
    name = job.ref.job_id
    if job.state is JobState.WRITING:
        raise NotNow(f"{name} is still being written; try again in a moment")
    if job.state.settled:
        raise Conflict(f"{name} has already ended: it is {job.state.value.lower()}")
    if job.state is JobState.CANCELLING or job.cancel_requested:
        raise Conflict(f"{name} is being cancelled")
    if job.state is JobState.REDRIVING or job.redrive_key:
        raise NotNow(f"{name} is being redriven; try again in a minute")
    if end is None or end.state is not TaskState.WAITING:
        raise Conflict(f"{name} is already completing")
    return end


def added_relay(number: int) -> str:
    """The one of the chunk with this number."""
    return f"{ADDED_PREFIX}{number}"


def added_number(relay: str) -> int:
    return int(relay.removeprefix(ADDED_PREFIX))
