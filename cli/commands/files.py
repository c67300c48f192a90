"""`logs` and `artifacts`: what a task prints, and what it leaves behind."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from cli.api import Api
from cli.commands.events import EventsJsonOption
from cli.commands.jobs import RequestArgument
from cli.errors import Interrupted
from cli.following_output import as_printed, readable, stored
from cli.named import task_named
from cli.operating import local_endpoint, operating
from cli.options import JsonOption, StageOption, TaskArgument
from cli.outside import Outside, outside_of
from cli.stages import Stage, endpoint_of
from cli.statuses import FINAL
from cli.tables import cut_to_fit, table_of
from cli.terminal import notices, print_json, print_json_line, results, visible
from cli.wording import byte_count, counted
from switchyard.client.files import saved
from switchyard.contracts.jobs import FileLink, TaskView
from switchyard.contracts.wire import Written

FollowOption = Annotated[
    bool, typer.Option("--follow", "-f", help="Go on with what it prints, until it has settled.")
]
GetOption = Annotated[bool, typer.Option("--get", help="Bring them here.")]
FolderOption = Annotated[
    Path | None,
    typer.Option(
        "--to",
        file_okay=False,
        help="Where to: with --get, a folder named like the task if absent.",
    ),
]


class PrintedLine(Written):
    line: str


def logs(
    context: typer.Context,
    request: RequestArgument,
    task: TaskArgument = None,
    *,
    follow: FollowOption = False,
    stage: StageOption = Stage.LOCAL,
    as_json: EventsJsonOption = False,
) -> None:
    """Show what a task prints.

    While it runs, from its worker's log: on stages other than local with your AWS credentials.
    Once it has settled, what was stored of the attempt that settled it.
    """
    job_id, task_id = task_named(request, task)
    outside = outside_of(context)
    with Api(endpoint_of(stage, outside), outside.transport) as api:
        view = api.task(job_id, task_id)
        if view.status in FINAL:
            _print_stored(stored(view, api), as_json=as_json)
        else:
            _print_live(view, api, outside, follow=follow, as_json=as_json)


def artifacts(
    context: typer.Context,
    request: RequestArgument,
    task: TaskArgument = None,
    *,
    get: GetOption = False,
    to: FolderOption = None,
    stage: StageOption = Stage.LOCAL,
    as_json: JsonOption = False,
) -> None:
    """List the files of a task that has settled, or bring them here."""
    job_id, task_id = task_named(request, task)
    outside = outside_of(context)
    with Api(endpoint_of(stage, outside), outside.transport) as api:
        view = api.task(job_id, task_id)
        if get or to:
            _bring(view.files, to or Path(view.request_id), api)
    if as_json:
        print_json([*view.files])
    elif not (get or to):
        _print_files(view, results())


def _print_stored(lines: Sequence[str], *, as_json: bool) -> None:
    _print_lines(lines, as_json=as_json)
    if not lines:
        notices().print("It printed nothing that was stored.", style="dim")


def _print_live(view: TaskView, api: Api, outside: Outside, *, follow: bool, as_json: bool) -> None:
    stage = api.endpoint.stage
    began = view.started_at
    since_ms = round(began.timestamp() * 1000) if began else outside.clock.now_ms()
    local = local_endpoint(stage, outside)
    with (
        operating(f"The log of the stage {stage} is"),
        outside.task_output(stage.value, local, view.request_id, since_ms) as output,
    ):
        if not follow:
            _print_lines(output.news(), as_json=as_json)
            hint = f"It is {view.status}; --follow shows what comes."
            notices().print(hint, style="dim", soft_wrap=True)
            return
        try:
            job_id, task_id = view.job_id, view.task_id
            for news in as_printed(output, lambda: api.task(job_id, task_id), outside.clock):
                _print_lines(news, as_json=as_json)
        except KeyboardInterrupt as interrupt:
            raise Interrupted("Stopped following; the task goes on.") from interrupt


def _print_lines(lines: Iterable[str], *, as_json: bool) -> None:
    for line in lines:
        if as_json:
            print_json_line(PrintedLine(line=line))
        else:
            typer.echo(visible(readable(line)))


def _bring(links: Sequence[FileLink], folder: Path, api: Api) -> None:
    for link in links:
        path = saved(link.name, api.download(link), folder)
        notices().print(visible(str(path)), style="dim", soft_wrap=True)
    brought = f"{counted(len(links), 'file')} in {folder}."
    notices().print(visible(brought), soft_wrap=True)


def _print_files(view: TaskView, console: Console) -> None:
    if not view.files:
        console.print("No files." if view.status in FINAL else f"It is {view.status}: none yet.")
        return
    table = table_of("size", giving_way="name")
    for link in view.files:
        table.add_row(byte_count(link.size), cut_to_fit(link.name))
    console.print(table)
