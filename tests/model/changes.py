"""What people ask for: to cancel a task or a job, to redrive it, to add a task to it.

A request reads and writes like any other function; what it asks of a job is carried out by the
dispatcher, an operation at a time (`usecases/dispatching/dispatch_batch.py`).
"""

from dataclasses import dataclass

from switchyard.domain.ids import END
from switchyard.domain.jobs import transitions as of_jobs
from switchyard.domain.jobs.cancel_cursor import CancelCursor, Pass
from switchyard.domain.jobs.job import Job, NextStep, next_step
from switchyard.domain.states import JobState, TaskState
from switchyard.domain.tasks import transitions as of_tasks
from switchyard.domain.tasks.task import Task
from switchyard.domain.transition import TransitionRefused
from tests.model import redrives
from tests.model.database import SOME_TIME, Draft
from tests.model.functions import Operation, Todo, edges_to_follow, resolved


@dataclass(frozen=True, slots=True)
class BeginCancel:
    """Asks for the cancellation of a job (`cancel.py`, `CancelRequests.request_cancel`)."""

    job: Job

    def run(self, rest: Todo, draft: Draft) -> Todo:
        if isinstance(draft.write_job(of_jobs.begin_cancel(self.job, now_ms=SOME_TIME)), Job):
            draft.advance_job()
        return rest


@dataclass(frozen=True, slots=True)
class CancelTask:
    """Cancels one task (`cancel.py`, `CancelRequests.cancel_task`)."""

    task: Task

    def run(self, rest: Todo, draft: Draft) -> Todo:
        answer = _cancelled(self.task, draft)
        if answer is None:
            now = draft.task(self.task.ref.task_id)
            return rest if now.state.settled or now == self.task else (CancelTask(now), *rest)
        if answer.state is TaskState.CANCELLED:
            draft.wake_dispatcher(answer, by_event=True)
        return rest


@dataclass(frozen=True, slots=True)
class DecideTask:
    """Decides about a held task, as a person saw it (`decide_task.py`, `TaskDecider.decide`)."""

    task: Task
    approved: bool

    def run(self, rest: Todo, draft: Draft) -> Todo:
        state = TaskState.COMPLETED if self.approved else TaskState.FAILED
        resolved(self.task, state, state.value, draft)
        return rest


@dataclass(frozen=True, slots=True)
class Visit:
    """Cancels a task of a job that is being cancelled (`cancel.py`, `Canceller._visit`)."""

    task: Task

    def run(self, rest: Todo, draft: Draft) -> Todo:
        answer = _cancelled(self.task, draft)
        if answer is None:
            now = draft.task(self.task.ref.task_id)
            again = CancelCursor(Pass.ALL).wants(now) and now != self.task
            return (Visit(now), *rest) if again else rest
        if answer.state is TaskState.CANCELLED:
            return (*edges_to_follow(answer, draft, cancelled=True, quiet=True), *rest)
        return rest


@dataclass(frozen=True, slots=True)
class EndCancel:
    """Opens the job again when all were visited (`cancel.py`, `Canceller.go_on`)."""

    job: Job

    def run(self, rest: Todo, draft: Draft) -> Todo:
        cursor = str(CancelCursor(Pass.EVENTS))
        draft.write_job(of_jobs.end_cancel(self.job, now_ms=SOME_TIME, cursor=cursor))
        return rest


@dataclass(frozen=True, slots=True)
class SettleIfEnded:
    """Settles a job whose end came meanwhile (`cancel.py`, `Canceller._settle_if_ended`)."""

    def run(self, rest: Todo, draft: Draft) -> Todo:
        end = draft.task(END)
        if not end.state.settled:
            return rest
        return (*edges_to_follow(end, draft, cancelled=True, quiet=False), *rest)


@dataclass(frozen=True, slots=True)
class Report:
    """Emits the events of what was cancelled (`cancel.py`, `Canceller._report_all`)."""

    job: Job

    def run(self, rest: Todo, draft: Draft) -> Todo:
        todo: list[Operation] = []
        for task in draft.known:
            if CancelCursor(Pass.EVENTS).wants(task):
                draft.wake_dispatcher(task, by_event=True)
                todo += edges_to_follow(task, draft, cancelled=True, quiet=False)
        return (*todo, NoteReported(self.job), *rest)


@dataclass(frozen=True, slots=True)
class NoteReported:
    """Notes that all events were emitted (`cancel.py`, `Canceller._report_all`)."""

    job: Job

    def run(self, rest: Todo, draft: Draft) -> Todo:
        draft.write_job(of_jobs.note_events_emitted(self.job, None))
        return rest


def advanced(draft: Draft) -> Todo:
    """Read the job and begin the step that its state asks for (`JobAdvancer.advance`)."""
    job = draft.job
    match next_step(job):
        case NextStep.CANCEL if job.state is JobState.CANCELLING:
            wants = CancelCursor(Pass.ALL).wants
            visits = [Visit(task) for task in draft.known if wants(task)]
            return (*visits, EndCancel(job), SettleIfEnded(), Report(job))
        case NextStep.CANCEL:
            return (Report(job),)
        case NextStep.REDRIVE:
            return redrives.begun(job)
    return ()


def _cancelled(task: Task, draft: Draft) -> Task | None:
    transition = of_tasks.cancel(task, now_ms=SOME_TIME)
    if isinstance(transition, TransitionRefused):
        return task
    answer = draft.write(task.ref.task_id, transition)
    return None if isinstance(answer, TransitionRefused) else answer


def is_quiet(job: Job) -> bool:
    """Tell whether nothing but the hourly audit looks at the job."""
    return next_step(job) is None
