"""`artifacts`: list or download the files of a task."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from switchyard.client.files import saved
from switchyard_cli.actions.find_task import task_in
from switchyard_cli.connections.api import Api
from switchyard_cli.connections.endpoints import endpoint_of
from switchyard_cli.ids import task_named
from switchyard_cli.options import JsonOption, RequestArgument, StageOption, TaskArgument
from switchyard_cli.services import services_of
from switchyard_cli.stages import Stage
from switchyard_cli.terminal import notices, print_json, results, visible
from switchyard_cli.views.statuses import FINAL
from switchyard_cli.views.tables import cut_to_fit, table_of
from switchyard_cli.views.wording import byte_count, counted

if TYPE_CHECKING:
    from rich.console import Console

    from switchyard.contracts.jobs import FileLink, TaskView

GetOption = Annotated[bool, typer.Option("--get", help="Bring them here.")]
FolderOption = Annotated[
    Path | None,
    typer.Option(
        "--to",
        file_okay=False,
        help="Where to: with --get, a folder named like the task if absent.",
    ),
]


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
    """List or download the files of a task."""
    job_id, task_id = task_named(request, task)
    services = services_of(context)
    with Api(endpoint_of(stage, services), services.transport) as api:
        view = task_in(api, job_id, task_id)
        if get or to:
            _bring(view.files, to or Path(view.request_id), api)
    if as_json:
        print_json([*view.files])
    elif not (get or to):
        _print_files(view, results())


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
