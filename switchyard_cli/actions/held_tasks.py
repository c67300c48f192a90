"""Find the task that a person means, and say why one cannot be decided on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from switchyard.domain.ids import JOB_ID
from switchyard_cli.errors import BadInput
from switchyard_cli.ids import task_named
from switchyard_cli.terminal import clean
from switchyard_cli.views.statuses import COMPLETED, FINAL
from switchyard_cli.views.wording import counted

if TYPE_CHECKING:
    from switchyard.contracts.changes import DecisionView
    from switchyard_cli.connections.api import Api

APPROVAL: Final = "approval"
SIGNAL: Final = "signal"
HELD: Final = "held"
MOST_NAMED: Final = 10


def held_task(api: Api, what: str, task: str | None, kind: str) -> tuple[str, str]:
    """Return the ids of a job and of its task; without a task's id, of the only held one."""
    if task is not None or not JOB_ID.fullmatch(what):
        return task_named(what, task)
    job = api.job(what)
    of_kind = [task for task in job.tasks if task.kind == kind]
    held = [task.task_id for task in of_kind if task.status == HELD]
    if len(held) == 1:
        return what, held[0]
    if held:
        raise BadInput(f"{counted(len(held), kind)} of {what} are held: {_named(held)}. Name one.")
    if not of_kind:
        raise BadInput(f"{what} has no {kind}; it is {job.status}.")
    states = [f"{task.task_id} is {task.status}" for task in of_kind]
    raise BadInput(f"No {kind} of {what} is held: {_named(states)}.")


def require_held(shown: DecisionView, option: str) -> None:
    """Raise `BadInput` with the state of a task that nobody can approve, and with what to do."""
    name, named = clean(shown.task_id), f"{shown.job_id} {clean(shown.task_id)}{option}"
    if shown.kind == SIGNAL:
        raise BadInput(f"{name} is a signal, no approval: `switchyard signal {named}` ends it.")
    if shown.kind != APPROVAL:
        wait = f"{name} is a wait, no approval: it ends by itself"
        raise BadInput(f"{wait}, or with `switchyard cancel {named}`.")
    if shown.status == HELD:
        return
    if shown.status not in FINAL:
        later = f"{name} is {shown.status}: it asks once the tasks that it depends on have ended"
        raise BadInput(f"{later}. `switchyard watch {shown.job_id}{option}` says when.")
    again = "" if shown.status == COMPLETED else "; a redrive of the job asks again"
    ended = f"{name} is {shown.status}: nothing is left to decide{again}"
    raise BadInput(f"{ended}. `switchyard task {named}` shows how it ended.")


def _named(names: list[str]) -> str:
    more = len(names) - MOST_NAMED
    others = f" and {more:,} more" if more > 0 else ""
    return clean(", ".join(names[:MOST_NAMED])) + others
