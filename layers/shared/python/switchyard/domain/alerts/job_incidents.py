"""Incidents about jobs, and about tasks that belong to no job.

The incident of a job lasts from its first failure until the job completes or is cancelled.
"""

from collections.abc import Sequence
from typing import Final

from switchyard.domain.alerts.incidents import (
    Button,
    Incident,
    IncidentState,
    Section,
    Severity,
)
from switchyard.domain.alerts.subjects import JobSubject, TaskSubject
from switchyard.domain.ids import JobRef
from switchyard.domain.jobs.job import Job
from switchyard.domain.states import JobState, JobStatus
from switchyard.domain.tasks.task import Task

SHOWN_TASKS: Final = 5
REDRIVING: Final = "being redriven"
FAILED_TASK_ADVICE: Final = (
    "Mend the cause, and have its producer send the message again under another request id: a task "
    "that has ended is not run twice."
)

_TITLES: Final = {
    JobStatus.PARTIAL_FAILURE: "A task of a job failed, the others go on",
    JobStatus.FAILED: "A job failed",
    REDRIVING: "A failed job is being redriven",
    JobStatus.COMPLETED: "A job that had failed completed",
    JobStatus.CANCELLED: "A job that had failed was cancelled",
    JobStatus.PROCESSING: "A job goes on",
}
SUCCESS: Final = "A job completed"
_OPEN: Final = frozenset({JobStatus.PARTIAL_FAILURE, JobStatus.FAILED, REDRIVING})


def never_failed(job: Job) -> bool:
    """Whether no alert about the job can have been posted, judged by its item alone."""
    return job.run == 1 and phase_of(job) not in _OPEN and job.failure_detected_at_ms is None


def is_success(state: IncidentState) -> bool:
    """Whether the state is that of a job that has completed."""
    return state.fingerprint.startswith(f"{JobStatus.COMPLETED}/")


def phase_of(job: Job) -> str:
    """The job's status, or `REDRIVING` from the request of a redrive until its run settles."""
    if job.status is JobStatus.PROCESSING and _shown_run(job) > 1:
        return REDRIVING
    return job.status


def deleted_job_incident(ref: JobRef) -> Incident:
    """The end of the incident of a job whose items have expired."""
    title = f"A job is gone: {ref.job_id}"
    return Incident(
        subject=JobSubject(ref),
        severity=Severity.WARNING,
        open=False,
        title=title,
        fingerprint="gone",
        news=f"Over: {title}",
    )


def job_incident_state(job: Job) -> IncidentState:
    """The state of a job's incident, which takes no look at its tasks."""
    phase = phase_of(job)
    return IncidentState(
        subject=JobSubject(job.ref),
        severity=Severity.CRITICAL if phase == JobStatus.FAILED else Severity.WARNING,
        open=phase in _OPEN,
        fingerprint=f"{phase}/{_shown_run(job)}",
    )


def job_incident(job: Job, tasks: Sequence[Task], *, stage: str) -> Incident:
    """The incident of a job; `tasks` are those that people see."""
    phase, state = phase_of(job), job_incident_state(job)
    succeeded = never_failed(job) and phase == JobStatus.COMPLETED
    title = f"{SUCCESS if succeeded else _TITLES[phase]}: {job.name}"
    return Incident(
        subject=state.subject,
        severity=state.severity,
        open=state.open,
        fingerprint=state.fingerprint,
        title=title,
        sections=tuple(_sections(job, tasks, phase, stage)),
        news=f"{title} (run {_shown_run(job)})" if state.open or succeeded else f"Over: {title}",
        buttons=_buttons(job, phase),
    )


def task_incident(task: Task) -> Incident:
    """The incident of a failed task that belongs to no job."""
    title = f"A task without a job failed: {task.definition}"
    return Incident(
        subject=TaskSubject(task.ref),
        severity=Severity.CRITICAL,
        open=task.state.failure,
        title=title if task.state.failure else f"A task goes on: {task.definition}",
        sections=_task_sections(task) if task.state.failure else (),
        fingerprint=f"{task.state}/{task.run}",
        news=title,
    )


def _shown_run(job: Job) -> int:
    """The run that people see: while a redrive is prepared, the item still has the last run."""
    return job.run + 1 if job.state is JobState.REDRIVING else job.run


def _sections(job: Job, tasks: Sequence[Task], phase: str, stage: str) -> list[Section]:
    sections = [_summary(job, tasks, phase)]
    if phase in {JobStatus.PARTIAL_FAILURE, JobStatus.FAILED}:
        sections += _failures(job, tasks)
    if phase in _OPEN:
        sections.append(_advice(job, phase, stage))
    return sections


def _summary(job: Job, tasks: Sequence[Task], phase: str) -> Section:
    settled = [task for task in tasks if task.state.settled]
    failed = sum(task.state.failure for task in tasks)
    cost = sum(task.outcome.usage.cost_usd for task in tasks if task.outcome)
    return Section(
        title=job.name,
        facts=(
            ("job", job.ref.job_id),
            ("tenant", job.ref.tenant),
            ("status", f"{phase.replace('_', ' ')}, run {_shown_run(job)}"),
            ("tasks", f"{failed:,} failed, {len(settled):,} of {len(tasks):,} settled"),
            ("cost so far", f"${cost:,.4f}"),
        ),
    )


def _failures(job: Job, tasks: Sequence[Task]) -> list[Section]:
    """The failed tasks, beginning with the one that the job's item names."""

    def order(task: Task) -> tuple[bool, int, str]:
        noted = task.ref.task_id == job.failed_task_id
        return not noted, task.settled_at_ms or 0, task.ref.task_id

    failed = sorted((task for task in tasks if task.state.failure), key=order)
    shown = [_failure(task) for task in failed[:SHOWN_TASKS]]
    more = len(failed) - SHOWN_TASKS
    return [*shown, Section(title=f"and {more:,} more failed tasks")] if more > 0 else shown


def _failure(task: Task) -> Section:
    outcome = task.outcome
    return Section(
        title=task.ref.request_id if task.ref.bare else task.ref.task_id,
        facts=(
            ("definition", task.definition),
            ("attempts", f"{task.attempt} of {task.max_attempts}"),
            ("category", (outcome and outcome.error_category) or task.state.value.lower()),
            *_unmet(task),
        ),
        text=(outcome and outcome.error) or task.last_error or "no error was noted",
    )


def _unmet(task: Task) -> tuple[tuple[str, str], ...]:
    checked = task.commitments
    if checked is None or not checked.missing:
        return ()
    names = ", ".join(one.name for one in checked.missing)
    return (("not met", f"{names} ({len(checked.missing)} of {len(checked.results)} commitments)"),)


def _advice(job: Job, phase: str, stage: str) -> Section:
    where = f"--stage {stage}"
    failed_task = job.failed_task_id
    commands = [f"switchyard job {job.ref.job_id} {where}"]
    if failed_task and phase != REDRIVING:
        commands.append(f"switchyard logs {job.ref.job_id} {failed_task} {where}")
    if phase == JobStatus.FAILED:
        commands.append(f"switchyard redrive {job.ref.job_id} {where}")
    return Section(title="What to do", commands=tuple(commands))


def _buttons(job: Job, phase: str) -> tuple[Button, ...]:
    if phase not in _OPEN:
        return ()
    action = Button(
        action="redrive" if phase == JobStatus.FAILED else "cancel",
        tenant=job.ref.tenant,
        job_id=job.ref.job_id,
        run=_shown_run(job),
    )
    return (action,)


def _task_sections(task: Task) -> tuple[Section, ...]:
    outcome = task.outcome
    about = Section(
        title=task.definition,
        facts=(
            ("request", task.ref.request_id),
            ("tenant", task.ref.tenant),
            ("cost so far", f"${outcome.usage.cost_usd if outcome else 0:,.4f}"),
            ("files", (outcome and outcome.artifacts) or "none"),
        ),
    )
    return about, _failure(task), Section(title="What to do", text=FAILED_TASK_ADVICE)
