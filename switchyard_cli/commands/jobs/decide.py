"""`approve`, `reject` and `signal`: end a held task."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from switchyard_cli.connections.api import Api
from switchyard_cli.connections.endpoints import endpoint_of
from switchyard_cli.errors import BadInput
from switchyard_cli.options import JobOrTaskArgument, JsonOption, StageOption
from switchyard_cli.services import services_of
from switchyard_cli.stages import Stage
from switchyard_cli.terminal import clean, confirmed, notices, print_json, results

if TYPE_CHECKING:
    from switchyard.contracts.changes import DecideTask, SignalTask, TaskDecided

HeldTaskArgument = Annotated[
    str | None,
    typer.Argument(
        metavar="[TASK]",
        help="The task's id, after a job's id; without it the only one of the job that is held.",
    ),
]
CommentOption = Annotated[str | None, typer.Option(help="Why; it is in the task's output.")]
YesOption = Annotated[bool, typer.Option("--yes", help="Do not ask before deciding.")]
PersonOption = Annotated[
    str | None,
    typer.Option("--by", envvar="USER", help="Who decides; beside it the key is recorded."),
]
EditOption = Annotated[
    Path | None,
    typer.Option("--edit", help="A value to give on with the decision, in YAML or JSON."),
]
ValueOption = Annotated[
    Path | None, typer.Option("--value", help="The task's output, in YAML or JSON.")
]


def approve(  # noqa: PLR0913 - one per option
    context: typer.Context,
    what: JobOrTaskArgument,
    task: HeldTaskArgument = None,
    *,
    comment: CommentOption = None,
    edit: EditOption = None,
    by: PersonOption = None,
    yes: YesOption = False,
    stage: StageOption = Stage.LOCAL,
    as_json: JsonOption = False,
) -> None:
    """Approve what a job waits for.

    What is decided on is shown first. If it changes before you answer, your decision is refused.
    """
    said = {"approved": True, "comment": comment, "decidedBy": by}
    _decide(context, what, task, said, edit=edit, yes=yes, stage=stage, as_json=as_json)


def reject(
    context: typer.Context,
    what: JobOrTaskArgument,
    task: HeldTaskArgument = None,
    *,
    comment: CommentOption = None,
    by: PersonOption = None,
    yes: YesOption = False,
    stage: StageOption = Stage.LOCAL,
    as_json: JsonOption = False,
) -> None:
    """Reject what a job waits for.

    The task completes with `approved: false`, or fails if its job says so (onReject: fail).
    """
    said = {"approved": False, "comment": comment, "decidedBy": by}
    _decide(context, what, task, said, edit=None, yes=yes, stage=stage, as_json=as_json)


def signal(
    context: typer.Context,
    what: JobOrTaskArgument,
    task: HeldTaskArgument = None,
    *,
    value: ValueOption = None,
    stage: StageOption = Stage.LOCAL,
    as_json: JsonOption = False,
) -> None:
    """Give a task the signal that it waits for."""
    from switchyard.clock import system_ids
    from switchyard_cli.actions.find_task import suggesting_task
    from switchyard_cli.actions.held_tasks import SIGNAL, held_task
    from switchyard_cli.actions.retry import until_accepted

    request = _signal({"value": _value(value)} if value else {}, system_ids().new_secret())
    services = services_of(context)
    with Api(endpoint_of(stage, services), services.transport) as api:
        job_id, task_id = held_task(api, what, task, SIGNAL)
        with suggesting_task(api, job_id, task_id):
            ended = until_accepted(lambda: api.signal(job_id, task_id, request), services.clock)
    _print_ended(ended, "has its signal", as_json=as_json)


def _decide(
    context: typer.Context,
    what: str,
    task: str | None,
    said: dict[str, Any],
    *,
    edit: Path | None,
    yes: bool,
    stage: Stage,
    as_json: bool,
) -> None:
    from switchyard.clock import system_ids
    from switchyard_cli.actions.find_task import suggesting_task
    from switchyard_cli.actions.held_tasks import APPROVAL, held_task, require_held
    from switchyard_cli.actions.retry import until_accepted
    from switchyard_cli.views.decision import print_decision

    given = said | ({"value": _value(edit)} if edit else {})
    services = services_of(context)
    with Api(endpoint_of(stage, services), services.transport) as api:
        job_id, task_id = held_task(api, what, task, APPROVAL)
        with suggesting_task(api, job_id, task_id):
            shown = api.decision(job_id, task_id)
        require_held(shown, stage.option)
        print_decision(shown, notices() if as_json else results())
        word = "Approve" if said["approved"] else "Reject"
        if not confirmed(f"{word} {clean(task_id)}?", yes=yes):
            raise typer.Exit(1)
        request = _request(given, shown.basis, system_ids().new_secret())
        ended = until_accepted(lambda: api.decide(job_id, task_id, request), services.clock)
    _print_ended(ended, "is approved" if said["approved"] else "is rejected", as_json=as_json)


def _value(file: Path) -> Any:
    from switchyard_cli.files.document import read_document

    return read_document(file).value


def _request(given: dict[str, Any], basis: str, request_id: str) -> DecideTask:
    from pydantic import ValidationError

    from switchyard.contracts.changes import DecideTask
    from switchyard.contracts.problems import validation_problems

    known = {name: value for name, value in given.items() if name == "value" or value is not None}
    try:
        return DecideTask.model_validate({**known, "basis": basis, "requestId": request_id})
    except ValidationError as error:
        raise BadInput("; ".join(map(str, validation_problems(error.errors())))) from error


def _signal(given: dict[str, Any], request_id: str) -> SignalTask:
    from pydantic import ValidationError

    from switchyard.contracts.changes import SignalTask
    from switchyard.contracts.problems import validation_problems

    try:
        return SignalTask.model_validate({**given, "requestId": request_id})
    except ValidationError as error:
        raise BadInput("; ".join(map(str, validation_problems(error.errors())))) from error


def _print_ended(ended: TaskDecided, words: str, *, as_json: bool) -> None:
    if as_json:
        print_json(ended)
        return
    again = " (it was before, by the same request)" if ended.repeated else ""
    results().print(f"{ended.request_id} {words}{again}: {ended.status}.", soft_wrap=True)
