"""A job that fails, as an incident: from its first failure until it completes or is cancelled."""

from collections.abc import Sequence
from typing import Final

from switchyard.domain.alerts.incidents import Button, Incident, Section, Severity
from switchyard.domain.ids import JobRef
from switchyard.domain.jobs.job import Job
from switchyard.domain.states import JobState, JobStatus
from switchyard.domain.tasks.task import Task

SUBJECT_PREFIX: Final = "job/"
SHOWN_TASKS: Final = 5
REDRIVING: Final = "being redriven"

_TITLES: Final = {
    JobStatus.PARTIAL_FAILURE: "A task of a job failed, the others go on",
    JobStatus.FAILED: "A job failed",
    REDRIVING: "A failed job is being redriven",
    JobStatus.COMPLETED: "A job that had failed completed",
    JobStatus.CANCELLED: "A job that had failed was cancelled",
    JobStatus.PROCESSING: "A job goes on",
}
_OPEN: Final = frozenset({JobStatus.PARTIAL_FAILURE, JobStatus.FAILED, REDRIVING})


def job_subject(ref: JobRef) -> str:
    return f"{SUBJECT_PREFIX}{ref.tenant}/{ref.job_id}"


def never_failed(job: Job) -> bool:
    """Whether nobody can have been told of it; from its item alone."""
    return job.run == 1 and phase_of(job) not in _OPEN and job.failure_detected_at_ms is None


def phase_of(job: Job) -> str:
    if job.status is JobStatus.PROCESSING and _shown_run(job) > 1:
        return REDRIVING
    return job.status


def _shown_run(job: Job) -> int:
    """While a redrive is being prepared its run has not begun: the job's item has the last one."""
    return job.run + 1 if job.state is JobState.REDRIVING else job.run


def job_gone(ref: JobRef) -> Incident:
    """Nobody keeps it any more."""
    title = f"A job is gone: {ref.job_id}"
    return Incident(
        subject=job_subject(ref),
        severity=Severity.WARNING,
        open=False,
        title=title,
        fingerprint="gone",
        news=f"Over: {title}",
    )


def job_incident(job: Job, tasks: Sequence[Task], *, stage: str) -> Incident:
    """`tasks` are those that people see."""
    phase = phase_of(job)
    still_open = phase in _OPEN
    title = f"{_TITLES[phase]}: {job.name}"
    return Incident(
        subject=job_subject(job.ref),
        severity=Severity.CRITICAL if phase == JobStatus.FAILED else Severity.WARNING,
        open=still_open,
        title=title,
        sections=tuple(_sections(job, tasks, phase, stage)),
        fingerprint=f"{phase}/{_shown_run(job)}",
        news=f"{title} (run {_shown_run(job)})" if still_open else f"Over: {title}",
        buttons=_buttons(job, phase),
    )


def _sections(job: Job, tasks: Sequence[Task], phase: str, stage: str) -> list[Section]:
    sections = [_about(job, tasks, phase)]
    if phase in {JobStatus.PARTIAL_FAILURE, JobStatus.FAILED}:
        sections += _failures(job, tasks)
    if phase in _OPEN:
        sections.append(_what_to_do(job, phase, stage))
    return sections


def _about(job: Job, tasks: Sequence[Task], phase: str) -> Section:
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
    def first_noted(task: Task) -> tuple[bool, int, str]:
        noted = task.ref.task_id == job.failed_task_id
        return not noted, task.settled_at_ms or 0, task.ref.task_id

    failed = sorted((task for task in tasks if task.state.failure), key=first_noted)
    shown = [failure_of(task) for task in failed[:SHOWN_TASKS]]
    more = len(failed) - SHOWN_TASKS
    return [*shown, Section(title=f"and {more:,} more failed tasks")] if more > 0 else shown


def failure_of(task: Task) -> Section:
    outcome = task.outcome
    return Section(
        title=task.ref.request_id if task.ref.bare else task.ref.task_id,
        facts=(
            ("definition", task.definition),
            ("attempts", f"{task.attempt} of {task.max_attempts}"),
            ("category", (outcome and outcome.error_category) or task.state.value.lower()),
        ),
        text=(outcome and outcome.error) or task.last_error or "no error was noted",
    )


def _what_to_do(job: Job, phase: str, stage: str) -> Section:
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
