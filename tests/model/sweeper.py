"""The sweeper (`usecases/dispatching/sweep.py`): it looks at one thing, then nudges it.

Its clock may show any time, so that whatever has a due time may be overdue.
"""

from dataclasses import dataclass

from switchyard.domain.jobs import overdue
from switchyard.domain.jobs import transitions as of_jobs
from switchyard.domain.jobs.job import Job
from switchyard.domain.jobs.overdue import Action, Step
from switchyard.domain.tasks import transitions as of_tasks
from switchyard.domain.tasks.task import Task
from switchyard.domain.transition import TransitionRefused
from tests.model.database import Draft
from tests.model.functions import Todo, started


@dataclass(frozen=True, slots=True)
class Nudge:
    """Moves the due time of a task that was read to be overdue, and acts (`Sweeper._nudge`)."""

    task: Task

    def run(self, rest: Todo, draft: Draft) -> Todo:
        step = overdue.decide_task_step(self.task, now_ms=draft.clocks.late)
        if step.due_at_ms is None:
            return rest
        move = of_tasks.postpone(self.task, step.due_at_ms, count=step.action.nudges)
        if isinstance(draft.write(self.task.ref.task_id, move), TransitionRefused):
            return rest
        return (*_act(self.task, step, draft), *rest)


@dataclass(frozen=True, slots=True)
class NudgeJob:
    """Does the same to a job."""

    job: Job

    def run(self, rest: Todo, draft: Draft) -> Todo:
        step = overdue.decide_job_step(self.job, now_ms=draft.clocks.late)
        if step.due_at_ms is None:
            return rest
        if isinstance(
            draft.write_job(of_jobs.postpone(self.job, step.due_at_ms)), TransitionRefused
        ):
            return rest
        if step.action is Action.ADVANCE:
            draft.advance_job()
        if step.action is Action.AUDIT:
            for parent in overdue.forgotten_parents(draft.known):
                draft.wake_dispatcher(draft.task(parent.ref.task_id), by_event=False)
        return rest


def found(draft: Draft) -> list[Nudge | NudgeJob]:
    """Read what is overdue."""
    tasks: list[Nudge | NudgeJob] = [
        Nudge(task) for task in draft.known if task.due_at_ms is not None
    ]
    return tasks if draft.job.due_at_ms is None else [*tasks, NudgeJob(draft.job)]


def _act(task: Task, step: Step, draft: Draft) -> Todo:
    match step.action:
        case Action.START:
            return (started(task, draft),)
        case Action.DECIDE | Action.END_HOLD:
            draft.wake_dispatcher(task, by_event=False)
        case Action.RESEND | Action.WAKE:
            draft.wake_worker(task)
        case Action.DISPATCH:
            draft.wake_dispatcher(task, by_event=True)
            draft.wake_dispatcher(task, by_event=False)
    return ()
