"""`logs`: print what a task writes to its output."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from switchyard_cli.actions.find_task import task_in
from switchyard_cli.actions.task_output import as_printed, readable, stored
from switchyard_cli.connections.api import Api
from switchyard_cli.connections.endpoints import endpoint_of
from switchyard_cli.connections.operators import local_endpoint, operating
from switchyard_cli.errors import Interrupted
from switchyard_cli.ids import task_named
from switchyard_cli.options import JsonLinesOption, RequestArgument, StageOption, TaskArgument
from switchyard_cli.services import Services, services_of
from switchyard_cli.stages import Stage
from switchyard_cli.terminal import notices, print_json_line, visible
from switchyard_cli.views.statuses import FINAL

if TYPE_CHECKING:
    from switchyard.contracts.jobs import TaskView

FollowOption = Annotated[
    bool, typer.Option("--follow", "-f", help="Go on with what it prints, until it has settled.")
]


def logs(
    context: typer.Context,
    request: RequestArgument,
    task: TaskArgument = None,
    *,
    follow: FollowOption = False,
    stage: StageOption = Stage.LOCAL,
    as_json: JsonLinesOption = False,
) -> None:
    """Print the output of a task's process.

    While it runs, from its worker's log: on stages other than local with your AWS credentials.
    Once it has settled, what was stored of the attempt that settled it.
    """
    job_id, task_id = task_named(request, task)
    services = services_of(context)
    with Api(endpoint_of(stage, services), services.transport) as api:
        view = task_in(api, job_id, task_id)
        if view.status in FINAL:
            _print_stored(stored(view, api), as_json=as_json)
        else:
            _print_live(view, api, services, follow=follow, as_json=as_json)


def _print_stored(lines: Sequence[str], *, as_json: bool) -> None:
    _print_lines(lines, as_json=as_json)
    if not lines:
        notices().print("It printed nothing that was stored.", style="dim")


def _print_live(
    view: TaskView, api: Api, services: Services, *, follow: bool, as_json: bool
) -> None:
    stage = api.endpoint.stage
    began = view.started_at
    since_ms = round(began.timestamp() * 1000) if began else services.clock.now_ms()
    local = local_endpoint(stage, services)
    with (
        operating(f"The log of the stage {stage} is"),
        services.task_output(stage.value, local, view.request_id, since_ms) as output,
    ):
        if not follow:
            _print_lines(output.news(), as_json=as_json)
            hint = f"It is {view.status}; --follow shows what comes."
            notices().print(hint, style="dim", soft_wrap=True)
            return
        try:
            job_id, task_id = view.job_id, view.task_id
            for news in as_printed(output, lambda: api.task(job_id, task_id), services.clock):
                _print_lines(news, as_json=as_json)
        except KeyboardInterrupt as interrupt:
            raise Interrupted("Stopped following; the task goes on.") from interrupt


def _print_lines(lines: Iterable[str], *, as_json: bool) -> None:
    from switchyard_cli.views.printed import PrintedLine

    for line in lines:
        if as_json:
            print_json_line(PrintedLine(line=line))
        else:
            typer.echo(visible(readable(line)))
