"""`redrive`: run tasks of a settled job again."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from switchyard.domain.jobs.limits import MAX_TIMEOUT_MS
from switchyard_cli.connections.api import Api
from switchyard_cli.connections.endpoints import endpoint_of
from switchyard_cli.ids import job_named
from switchyard_cli.options import JobArgument, JsonOption, StageOption
from switchyard_cli.services import services_of
from switchyard_cli.stages import Stage
from switchyard_cli.terminal import notices, print_json, results
from switchyard_cli.views.wording import counted

if TYPE_CHECKING:
    from switchyard.contracts.changes import RedriveAccepted, RedriveJob
    from switchyard_cli.files.document import Document
    from switchyard_cli.services import Services

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
FromOption = Annotated[
    list[str] | None,
    typer.Option(
        "--from",
        help="A task, completed or not, that runs again together with everything that comes after "
        "it; may be repeated. What will run is shown first.",
    ),
]
InputOption = Annotated[
    Path | None,
    typer.Option(
        "--input", help="Its new input, in YAML or JSON; needs exactly one --task or --from."
    ),
]
LatestOption = Annotated[
    bool,
    typer.Option(
        "--latest", help="Run the latest version of the definitions of the redriven tasks."
    ),
]
DryRunOption = Annotated[
    bool, typer.Option("--dry-run", help="Show what would run, and what that cost; run nothing.")
]
YesOption = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask before --from runs.")]
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

TokensOption = Annotated[
    int | None,
    typer.Option(
        min=1_000, max=1_000_000_000, help="The most tokens that one attempt may use, all together."
    ),
]


def redrive(  # noqa: PLR0913 - one per option
    context: typer.Context,
    job: JobArgument,
    named: TasksArgument = None,
    *,
    tasks: TasksOption = None,
    first: FromOption = None,
    input_file: InputOption = None,
    model: ModelOption = None,
    max_turns: TurnsOption = None,
    timeout: TimeoutOption = None,
    max_cost_usd: CostOption = None,
    max_tokens: TokensOption = None,
    latest: LatestOption = False,
    dry_run: DryRunOption = False,
    yes: YesOption = False,
    watch: WatchOption = False,
    stage: StageOption = Stage.LOCAL,
    as_json: JsonOption = False,
) -> None:
    """Run tasks of a settled job again: those that did not complete, or all from a task on.

    Tasks behind them that did not complete run as well; completed ones stay completed, unless they
    come after a task that is named with --from. A new input, model, limit or version applies to
    the redriven tasks, not to those that depend on them.
    """
    from switchyard_cli.actions.redrive import redrive_request
    from switchyard_cli.files.document import read_document

    document = read_document(input_file) if input_file else None
    limits = {"maxTurns": max_turns, "timeout": timeout, "maxCostUsd": max_cost_usd}
    limits["maxTokens"] = max_tokens
    names = {"tasks": [*(named or []), *(tasks or [])], "from": first or None}
    asked = {**names, "model": model, **limits, "latest": latest or None}
    request = redrive_request(asked, document)
    how = _How(bool(first) and not yes, dry_run, watch, stage, as_json)
    _carry_out(job_named(job), request, document, services_of(context), how)


@dataclass(frozen=True)
class _How:
    asks: bool
    dry_run: bool
    watch: bool
    stage: Stage
    as_json: bool


def _carry_out(
    job_id: str, request: RedriveJob, document: Document | None, services: Services, how: _How
) -> None:
    from switchyard_cli.actions.follow_to_end import follow_to_end
    from switchyard_cli.actions.redrive import check_input, send_redrive

    with Api(endpoint_of(how.stage, services), services.transport) as api:
        check_input(api, job_id, request, document)
        if how.asks or how.dry_run:
            dry = request.model_copy(update={"dry_run": True})
            planned = send_redrive(api, job_id, dry, document, services)
            _show_and_ask(planned, how.stage, asks=not how.dry_run, as_json=how.as_json)
            request = request.model_copy(update={"run": planned.run - 1})
        if how.dry_run:
            return
        accepted = send_redrive(api, job_id, request, document, services)
        if how.watch:
            follow_to_end(api, job_id, services, as_json=how.as_json)
        else:
            _print_redriven(accepted, how.stage, as_json=how.as_json)


def _show_and_ask(planned: RedriveAccepted, stage: Stage, *, asks: bool, as_json: bool) -> None:
    """Show what will run, on standard output if that is all that was asked for; then ask."""
    from switchyard_cli.views.redrive import print_planned, redrive_hints

    if as_json and not asks:
        print_json(planned)
        return
    print_planned(planned, notices() if as_json else results())
    for hint in redrive_hints(planned, stage.option):
        notices().print(hint, style="yellow", soft_wrap=True, markup=False)
    tasks = counted(planned.reopened_tasks, "task")
    if asks and not typer.confirm(f"Run {tasks} again?", err=True):
        raise typer.Exit(1)


def _print_redriven(accepted: RedriveAccepted, stage: Stage, *, as_json: bool) -> None:
    from switchyard_cli.views.redrive import redrive_hints

    if as_json:
        print_json(accepted)
        return
    begun = counted(len(accepted.ready_tasks), "task")
    said = f"{accepted.job_id}: run {accepted.run}, {begun} at once"
    more = accepted.reopened_tasks - len(accepted.ready_tasks)
    results().print(said + (f" and {more:,} after" if more else ""), soft_wrap=True)
    for hint in redrive_hints(accepted, stage.option):
        notices().print(hint, style="yellow", soft_wrap=True, markup=False)
    hint = f"Watch it with `switchyard watch {accepted.job_id}{stage.option}`."
    notices().print(hint, style="dim", soft_wrap=True)
