"""The steps of a redrive, from the request to the last task that is started (`redrive.py`)."""

from dataclasses import dataclass
from hashlib import blake2b
from typing import Final

from switchyard.domain.jobs import redrive
from switchyard.domain.jobs import transitions as of_jobs
from switchyard.domain.jobs.job import Job
from switchyard.domain.states import JobState, TaskState
from switchyard.domain.tasks import transitions as of_tasks
from switchyard.domain.tasks.task import Task
from tests.model.database import SOME_TIME, Draft
from tests.model.functions import Todo, started

_PLANS: Final[dict[str, redrive.RedrivePlan]] = {}
"""The bucket: a plan is stored before a job names it, and is never lost."""


@dataclass(frozen=True, slots=True)
class BeginRedrive:
    """Asks for a redrive (`RedriveRequests.request_redrive`)."""

    job: Job
    key: str

    def run(self, rest: Todo, draft: Draft) -> Todo:
        begin = of_jobs.begin_redrive(self.job, key=self.key, now_ms=SOME_TIME)
        if isinstance(draft.write_job(begin), Job):
            draft.advance_job()
        return rest


@dataclass(frozen=True, slots=True)
class Prepare:
    """Adds edges to a task that is kept (`Redriver._prepare`)."""

    key: str
    name: str

    def run(self, rest: Todo, draft: Draft) -> Todo:
        edges, place = _PLANS[self.key].edges[self.name], draft.names[self.name]
        if draft.dependents[place] == edges.before:
            draft.dependents[place] = edges.after
        return rest


@dataclass(frozen=True, slots=True)
class Reopen:
    """Begins the next run of a task (`Redriver._reopen`)."""

    reopening: redrive.Reopening

    def run(self, rest: Todo, draft: Draft) -> Todo:
        one = self.reopening
        answer = draft.write(one.task_id, of_tasks.reopen(one, now_ms=SOME_TIME))
        if one.waiting_on or not isinstance(answer, Task) or answer.state is not TaskState.READY:
            return rest
        return (started(answer, draft), *rest)


@dataclass(frozen=True, slots=True)
class NoteProgress:
    """Notes how much of the plan is done (`Redriver._piecewise`)."""

    job: Job
    written: int

    def run(self, rest: Todo, draft: Draft) -> Todo:
        draft.write_job(of_jobs.note_redrive_progress(self.job, written=self.written))
        return rest


@dataclass(frozen=True, slots=True)
class OpenJob:
    """Begins the next run of the job (`Redriver.go_on`)."""

    job: Job

    def run(self, rest: Todo, draft: Draft) -> Todo:
        fewer = _PLANS[self.job.redrive_key or ""].fewer_tasks
        reopen = of_jobs.reopen(self.job, now_ms=SOME_TIME, fewer_tasks=fewer)
        opened = draft.write_job(reopen)
        return (*_starts(opened), *rest) if isinstance(opened, Job) else rest


@dataclass(frozen=True, slots=True)
class FindRedriven:
    """Reads the job before the redrive is ended (`Redriver._end`)."""

    job: Job

    def run(self, rest: Todo, draft: Draft) -> Todo:
        same = draft.job.redrive_key == self.job.redrive_key
        return (EndRedrive(draft.job), *rest) if same else rest


@dataclass(frozen=True, slots=True)
class EndRedrive:
    """Ends the redrive (`Redriver._end`)."""

    job: Job

    def run(self, rest: Todo, draft: Draft) -> Todo:
        end = of_jobs.end_redrive(self.job, now_ms=SOME_TIME)
        if not isinstance(draft.write_job(end), Job):
            draft.advance_job()
        return rest


def requested(draft: Draft, again: tuple[str, ...] = ()) -> Todo:
    """Read the job and plan its redrive, if it may be redriven now.

    Without tasks to run `again`, what failed is redriven.
    """
    job = draft.job
    emitted = all(task.due_at_ms is None for task in draft.known)
    if not job.state.settled or job.redrive_key or not emitted:
        return ()
    picture = draft.picture()
    selected = () if again else redrive.select(picture, ())
    renewed = redrive.select_again(picture, again)
    if isinstance(selected, redrive.NotRedrivable) or isinstance(renewed, redrive.NotRedrivable):
        return ()
    edges = {task.ref.task_id: draft.dependents_of(task.ref.task_id) for task in draft.known}
    plan = redrive.plan_redrive(
        picture, edges, selected, redrive.Changes(), now_ms=SOME_TIME, again=renewed
    )
    key = f"plan-{blake2b(repr(plan).encode(), digest_size=4).hexdigest()}"
    _PLANS[key] = plan
    return (BeginRedrive(job, key),)


def begun(job: Job) -> Todo:
    """Return what is left of the plan that a job names."""
    if job.state is not JobState.REDRIVING:
        return _starts(job)
    plan = _PLANS[job.redrive_key or ""]
    prepares = [Prepare(job.redrive_key or "", name) for name in plan.edges]
    waiting = [Reopen(one) for one in plan.waiting]
    return (
        *_piece(job, prepares, after=0),
        *_piece(job, waiting, after=len(prepares)),
        OpenJob(job),
    )


def _starts(job: Job) -> Todo:
    plan = _PLANS[job.redrive_key or ""]
    ready = [Reopen(one) for one in plan.ready]
    after = len(plan.edges) + len(plan.waiting)
    return (*_piece(job, ready, after=after), FindRedriven(job))


def _piece(job: Job, things: "list[Prepare] | list[Reopen]", *, after: int) -> Todo:
    """Leave out what was noted as done."""
    left = things[max(job.written - after, 0) :]
    return (*left, NoteProgress(job, after + len(things))) if left else ()
