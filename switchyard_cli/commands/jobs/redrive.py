"""`redrive`: run the unfinished tasks of a settled job again."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from pydantic import ValidationError

from switchyard.client.errors import Refused
from switchyard.domain.errors import Problem
from switchyard.domain.jobs.limits import MAX_TIMEOUT_MS
from switchyard_cli.connections.api import Api
from switchyard_cli.connections.endpoints import endpoint_of
from switchyard_cli.errors import BadInput
from switchyard_cli.ids import job_named
from switchyard_cli.options import JobArgument, JsonOption, StageOption
from switchyard_cli.services import Services, services_of
from switchyard_cli.stages import Stage
from switchyard_cli.terminal import notices, print_json, results
from switchyard_cli.views.wording import counted

if TYPE_CHECKING:
    from switchyard.contracts.changes import RedriveAccepted, RedriveJob
    from switchyard_cli.files.document import Document

WatchOption = Annotated[
    bool, typer.Option("--watch", help="Follow the job; exit 0 only if it completes.")
]
TasksOption = Annotated[
    list[str] | None,
    typer.Option(
        "--task",
        help="A task that failed, timed out, was skipped or cancelled; may be repeated. "
        "Without it, all that failed, timed out or were cancelled.",
    ),
]
TasksArgument = Annotated[
    list[str] | None, typer.Argument(metavar="task", help="The same as --task.")
]
InputOption = Annotated[
    Path | None,
    typer.Option("--input", help="Its new input, in YAML or JSON; needs exactly one --task."),
]
ModelOption = Annotated[str | None, typer.Option(help="The model of the redriven tasks.")]
TurnsOption = Annotated[
    int | None, typer.Option(min=1, max=200, help="The most turns that an agent may take.")
]
TimeoutOption = Annotated[
    int | None,
    typer.Option(
        min=1_000, max=MAX_TIMEOUT_MS, help="The most milliseconds that an attempt may take."
    ),
]
CostOption = Annotated[
    float | None,
    typer.Option(min=0, max=10_000, help="The most US dollars that one attempt may spend."),
]


def redrive(  # noqa: PLR0913 - one per option
    context: typer.Context,
    job: JobArgument,
    named: TasksArgument = None,
    *,
    tasks: TasksOption = None,
    input_file: InputOption = None,
    model: ModelOption = None,
    max_turns: TurnsOption = None,
    timeout: TimeoutOption = None,
    max_cost_usd: CostOption = None,
    watch: WatchOption = False,
    stage: StageOption = Stage.LOCAL,
    as_json: JsonOption = False,
) -> None:
    """Run the tasks of a settled job again that did not complete.

    Tasks behind them that did not complete run as well; completed ones stay completed. A new input,
    model or limit applies to the redriven tasks, not to those that depend on them.
    """
    from switchyard_cli.actions.follow_to_end import follow_to_end
    from switchyard_cli.files.document import read_document

    document = read_document(input_file) if input_file else None
    limits = {"maxTurns": max_turns, "timeout": timeout, "maxCostUsd": max_cost_usd}
    request = _request([*(named or []), *(tasks or [])], document, {"model": model, **limits})
    services = services_of(context)
    with Api(endpoint_of(stage, services), services.transport) as api:
        job_id = job_named(job)
        accepted = _redriven(api, job_id, request, document, services)
        if watch:
            follow_to_end(api, job_id, services, as_json=as_json)
        elif as_json:
            print_json(accepted)
        else:
            _print_redriven(accepted, stage)


def _request(tasks: list[str], document: Document | None, asked: dict[str, Any]) -> RedriveJob:
    from switchyard.contracts.changes import RedriveJob
    from switchyard.contracts.problems import validation_problems

    if document and len(tasks) != 1:
        raise BadInput("--input needs exactly one --task.")
    given = {name: value for name, value in asked.items() if value is not None}
    if document:
        given["input"] = document.value
    try:
        return RedriveJob.model_validate({"tasks": tasks, **given})
    except ValidationError as error:
        raise _refused(validation_problems(error.errors()), document) from error


def _redriven(
    api: Api, job_id: str, request: RedriveJob, document: Document | None, services: Services
) -> RedriveAccepted:
    from switchyard_cli.actions.interruption import NextCommands, explaining_ctrl_c
    from switchyard_cli.actions.retry import until_accepted

    look = NextCommands.of(api, services).first(f"job {job_id}")
    try:
        with explaining_ctrl_c(f"{job_id} may have been redriven: {look} shows it."):
            return until_accepted(lambda: api.redrive(job_id, request), services.clock)
    except Refused as refused:
        if not refused.problems:
            raise
        raise _refused(refused.problems, document) from refused


def _refused(problems: Any, document: Document | None) -> BadInput:
    """Place the problems of the input on its lines."""
    of_input = [Problem(p.path[1:], p.message) for p in problems if p.path[:1] == ("input",)]
    if document and of_input:
        return document.invalid(of_input)
    return BadInput("\n".join(map(str, problems)))


def _print_redriven(accepted: RedriveAccepted, stage: Stage) -> None:
    begun = counted(len(accepted.ready_tasks), "task")
    said = f"{accepted.job_id}: run {accepted.run}, {begun} at once"
    more = accepted.reopened_tasks - len(accepted.ready_tasks)
    results().print(said + (f" and {more:,} after" if more else ""), soft_wrap=True)
    hint = f"Watch it with `switchyard watch {accepted.job_id}{stage.option}`."
    notices().print(hint, style="dim", soft_wrap=True)
