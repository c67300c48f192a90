"""A task of another producer that failed, as an incident: no job tells of it."""

from typing import Final

from switchyard.domain.alerts.incidents import Incident, Section, Severity
from switchyard.domain.alerts.job_incident import failure_of
from switchyard.domain.ids import TaskRef, bare_task
from switchyard.domain.tasks.task import Task

SUBJECT_PREFIX: Final = "task/"
WHAT_TO_DO: Final = (
    "Mend the cause, and have its producer send the message again under another request id: a task "
    "that has ended is not run twice."
)


def task_subject(ref: TaskRef) -> str:
    return f"{SUBJECT_PREFIX}{ref.tenant}/{ref.request_id}"


def task_in(subject: str) -> TaskRef:
    """Raise `ValueError` for an id that no such task can have."""
    tenant, _, request_id = subject.removeprefix(SUBJECT_PREFIX).partition("/")
    return bare_task(tenant, request_id)


def task_incident(task: Task) -> Incident:
    """`task` belongs to no job."""
    title = f"A task without a job failed: {task.definition}"
    return Incident(
        subject=task_subject(task.ref),
        severity=Severity.CRITICAL,
        open=task.state.failure,
        title=title if task.state.failure else f"A task goes on: {task.definition}",
        sections=_sections(task) if task.state.failure else (),
        fingerprint=f"{task.state}/{task.run}",
        news=title,
    )


def _sections(task: Task) -> tuple[Section, ...]:
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
    return about, failure_of(task), Section(title="What to do", text=WHAT_TO_DO)
