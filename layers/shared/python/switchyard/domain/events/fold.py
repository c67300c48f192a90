"""Derives the state of a task or job from its log, whatever the order of its events.

The highest run wins; within it the first terminal state absorbs, and otherwise the highest fence.
Under one fence a task is first waiting, pending or held, then taken by a worker, then perhaps
handed back: a heartbeat that arrives late reopens nothing.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from switchyard.domain.ids import HIDDEN_PREFIX
from switchyard.domain.states import JobState, TaskState, job_status, task_status
from switchyard.domain.tasks.task import Json

_BEFORE_A_WORKER: Final = {
    TaskState.WAITING: 0,
    TaskState.READY: 1,
    TaskState.HELD: 1,
    TaskState.PROCESSING: 2,
}
_HANDED_BACK: Final = 3
_ENDED_BY_ITS_HOLDER: Final = frozenset({TaskState.COMPLETED, TaskState.TIMED_OUT})


Outcome = Mapping[str, Json]
"""Output, cost or error, under the names that readers of the state table know them by."""


@dataclass(frozen=True, slots=True, order=True)
class LastEvent:
    timestamp_ms: int
    event_id: str
    event_type: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskEventFacts:
    """The facts that one event reports about its task."""

    event: LastEvent
    task_id: str
    run: int
    fence: int
    state: TaskState
    """The state after the event: QUEUED when a worker handed the task back."""
    attempt: int | None = None
    """The number of the attempt that the event ended, if it names one."""
    given_back: bool = False
    """The attempt did not count."""
    without_worker: bool = False
    """Whether the event shows that no worker runs the task."""
    job_run: int | None = None
    outcome: Outcome | None = None
    """The outcome of an end, as far as its event says."""

    @property
    def held(self) -> bool:
        """Whether it shows that a worker had the task under this fence."""
        return (
            self.state is TaskState.PROCESSING
            or self.state in _ENDED_BY_ITS_HOLDER
            or self.attempt is not None
        )

    @property
    def step(self) -> tuple[int, int, LastEvent]:
        return self.fence, _BEFORE_A_WORKER.get(self.state, _HANDED_BACK), self.event


@dataclass(frozen=True, slots=True, kw_only=True)
class JobEventFacts:
    """The facts that one event reports about its job."""

    event: LastEvent
    run: int
    state: JobState
    creation: bool = False
    total_tasks: int | None = None
    task_ids: tuple[str, ...] = ()
    failed_task_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskFold:
    status: str
    run: int = 1
    attempt: int = 0
    attempt_known: bool = False
    """Whether every attempt has an event, or the last one has its number."""
    pending_emitted: bool = False
    outcome: Outcome | None = None
    last: LastEvent | None = None
    """Return `None` for a task that its job named and that has no event yet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobFold:
    status: str
    run: int
    total_tasks: int
    last: LastEvent
    creation_emitted: bool = False
    failed_task_id: str | None = None
    tasks: Mapping[str, TaskFold] = field(default_factory=dict)


def fold_task(emitted: Iterable[TaskEventFacts]) -> TaskFold | None:
    """Return `None` when there are no events."""
    latest = _of_the_highest_run(emitted)
    if not latest:
        return None
    decisive, attempt = _decisive(latest), _attempt(latest)
    return TaskFold(
        status=task_status(decisive.state, attempt=attempt),
        run=decisive.run,
        attempt=attempt,
        attempt_known=decisive.attempt is not None or _is_gapless(latest),
        pending_emitted=any(one.state is TaskState.READY for one in latest),
        outcome=decisive.outcome,
        last=max(one.event for one in latest),
    )


def fold_tasks(emitted: Iterable[TaskEventFacts]) -> dict[str, TaskFold]:
    by_task: dict[str, list[TaskEventFacts]] = {}
    for one in emitted:
        if not one.task_id.startswith(HIDDEN_PREFIX):
            by_task.setdefault(one.task_id, []).append(one)
    folds = ((task_id, fold_task(events)) for task_id, events in sorted(by_task.items()))
    return {task_id: fold for task_id, fold in folds if fold is not None}


def fold_job(of_job: Iterable[JobEventFacts], of_tasks: Iterable[TaskEventFacts]) -> JobFold | None:
    """Return `None` when the job itself has no event."""
    job, tasks = list(of_job), list(of_tasks)
    if not job:
        return None
    run = max([*(one.run for one in job), *(one.job_run or 0 for one in tasks)])
    latest = [one for one in job if one.run == run]
    failures = [one for one in latest if one.failed_task_id is not None]
    folds = _with_unreported_tasks(job, fold_tasks(tasks))
    return JobFold(
        status=job_status(_job_state(latest), failure_detected=bool(failures)),
        run=run,
        total_tasks=_total(latest) or max([len(folds), *(one.total_tasks or 0 for one in job)]),
        last=max([*(one.event for one in job), *(one.event for one in tasks)]),
        creation_emitted=any(one.creation for one in job),
        failed_task_id=min(failures, key=lambda one: one.event).failed_task_id
        if failures
        else None,
        tasks=folds,
    )


def _total(latest: Iterable[JobEventFacts]) -> int:
    """Return how many tasks the job had when its latest run ended, or 0 if that is not emitted.

    Fewer than in the log, if a fan-out has made its items anew.
    """
    return max((one.total_tasks or 0 for one in latest if one.state.settled), default=0)


def _of_the_highest_run(emitted: Iterable[TaskEventFacts]) -> list[TaskEventFacts]:
    every = list(emitted)
    run = max((one.run for one in every), default=0)
    return [one for one in every if one.run == run]


def _decisive(emitted: list[TaskEventFacts]) -> TaskEventFacts:
    ends = [one for one in emitted if one.state.settled]
    if ends:
        return min(ends, key=lambda one: one.step)
    return max(emitted, key=lambda one: one.step)


def _attempt(emitted: list[TaskEventFacts]) -> int:
    """The last that was named, and whatever was begun and not given back since.

    A held task and a fan-out have none: no worker runs them.
    """
    if any(one.without_worker for one in emitted):
        return 0
    known_fence, known = max(
        ((one.fence, one.attempt) for one in emitted if one.attempt is not None), default=(-1, 0)
    )
    given_back = {one.fence for one in emitted if one.given_back}
    begun = {one.fence for one in emitted if one.held and one.fence > known_fence}
    return known + len(begun - given_back)


def _is_gapless(emitted: list[TaskEventFacts]) -> bool:
    """Return whether no claim's event is missing: claims, and queueing, raise the fence by one."""
    ready = max((one.fence for one in emitted if one.state is TaskState.READY), default=None)
    claims = sorted({one.fence for one in emitted if one.held or one.given_back})
    if ready is None or not claims or claims[-1] - claims[0] >= len(claims):
        return False
    return claims[0] - ready in {1, 2}


def _job_state(emitted: list[JobEventFacts]) -> JobState:
    ends = [one for one in emitted if one.state.settled]
    return min(ends, key=lambda one: one.event).state if ends else JobState.OPEN


def _with_unreported_tasks(
    job: list[JobEventFacts], folds: Mapping[str, TaskFold]
) -> dict[str, TaskFold]:
    named = {task_id for one in job for task_id in one.task_ids}
    return {
        task_id: folds.get(task_id) or TaskFold(status=task_status(TaskState.WAITING, attempt=0))
        for task_id in sorted(named | folds.keys())
    }
