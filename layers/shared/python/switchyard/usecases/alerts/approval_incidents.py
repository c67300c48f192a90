"""Makes the incident of an approval: it lasts until a person decides, or time does."""

import json
from typing import Final

from switchyard.contracts.changes import DecisionView, ShownParent
from switchyard.domain.alerts.incidents import Button, Incident, IncidentState, Section, Severity
from switchyard.domain.alerts.subjects import ApprovalSubject
from switchyard.domain.ids import TaskRef
from switchyard.domain.states import TaskState
from switchyard.domain.tasks.task import Json, Task

SHOWN_PARENTS: Final = 5
MAX_OUTPUT: Final = 1_200
"""Characters of a parent's output that are shown."""
SHOWN_FILES: Final = 5


def approval_state(task: Task, basis: str) -> IncidentState:
    """Return what decides whether the alert has to be posted or updated."""
    return IncidentState(
        subject=ApprovalSubject(task.ref),
        severity=Severity.WARNING,
        open=task.state is TaskState.HELD,
        fingerprint=f"{task.state}/{task.run}/{basis}",
    )


def approval_incident(
    state: IncidentState, ref: TaskRef, view: DecisionView, *, decision: Json, stage: str
) -> Incident:
    """Return the incident; `decision` is the output of an approval that was decided."""
    title = f"{_title(state, view, decision)}: {view.question or ref.task_id}"
    return Incident(
        subject=state.subject,
        severity=state.severity,
        open=state.open,
        fingerprint=state.fingerprint,
        channel=state.channel,
        title=title,
        sections=(
            _summary(ref, view),
            *map(_parent, view.parents[:SHOWN_PARENTS]),
            *(_advice(ref, stage) if state.open else ()),
        ),
        news=title,
        buttons=_buttons(ref, view) if state.open else (),
    )


def _title(state: IncidentState, view: DecisionView, decision: Json) -> str:
    if state.open:
        return "A job waits for an approval"
    if isinstance(decision, dict) and isinstance(decision.get("approved"), bool):
        verb = "approved" if decision["approved"] else "rejected"
        by = decision.get("by")
        return f"{verb.capitalize()} by {by}" if by else f"Nobody decided in time: {verb}"
    return f"An approval has ended: {view.status}"


def _summary(ref: TaskRef, view: DecisionView) -> Section:
    until = (("until", f"{view.held_until:%Y-%m-%d %H:%M} UTC"),) if view.held_until else ()
    then = (("then", str(view.on_timeout)),) if view.on_timeout else ()
    return Section(
        title=view.question or ref.task_id,
        facts=(
            ("job", ref.job_id),
            ("tenant", ref.tenant),
            ("approval", f"{ref.task_id}, run {view.run}"),
            ("status", view.status),
            *until,
            *then,
            ("cost so far", f"${view.job_cost_usd:,.4f}"),
        ),
    )


def _parent(parent: ShownParent) -> Section:
    files = ", ".join(parent.files[:SHOWN_FILES])
    more = len(parent.files) - SHOWN_FILES
    named = f"{files} and {more} more" if more > 0 else files
    output = parent.output
    text = output if isinstance(output, str) else json.dumps(output, ensure_ascii=False)
    return Section(
        title=parent.task_id,
        facts=(("status", parent.status), *((("files", named),) if named else ())),
        text="" if output is None else text[:MAX_OUTPUT],
    )


def _advice(ref: TaskRef, stage: str) -> tuple[Section, ...]:
    named = f"{ref.job_id} {ref.task_id} --stage {stage}"
    commands = (f"switchyard approve {named}", f"switchyard reject {named}")
    return (Section(title="What to do", commands=commands),)


def _buttons(ref: TaskRef, view: DecisionView) -> tuple[Button, ...]:
    return tuple(
        Button(
            action=action,
            tenant=ref.tenant,
            job_id=ref.job_id,
            run=view.run,
            task_id=ref.task_id,
            basis=view.basis,
        )
        for action in ("approve", "reject")
    )
