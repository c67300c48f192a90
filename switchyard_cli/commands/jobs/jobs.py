"""`watch`, `jobs`, `job`, `task`: show what was submitted.

These are typed most often, so each imports what it needs when it runs and help needs none of it.
"""

from __future__ import annotations

from shlex import quote
from typing import TYPE_CHECKING, Annotated

import typer

from switchyard.domain.states import JobStatus
from switchyard_cli.ids import job_named, task_named
from switchyard_cli.options import (
    JobArgument,
    JsonOption,
    RequestArgument,
    StageOption,
    TaskArgument,
)
from switchyard_cli.services import Services, services_of
from switchyard_cli.stages import Stage

if TYPE_CHECKING:
    from switchyard.contracts.jobs import JobView
    from switchyard_cli.connections.api import Api

LimitOption = Annotated[int, typer.Option(min=1, max=100, help="How many jobs to list.")]
CursorOption = Annotated[
    str | None, typer.Option(help="Continue after the previous page, which prints this value.")
]
StatusOption = Annotated[JobStatus | None, typer.Option(help="Only jobs in this status.")]
JobPictureOption = Annotated[
    str | None,
    typer.Option(
        "--picture",
        metavar="FILE",
        help="Draw what happened as an SVG picture to this file; - is standard output.",
    ),
]
TagOption = Annotated[
    str | None, typer.Option(metavar="KEY:VALUE", help="Only jobs with this tag.")
]


def watch(
    context: typer.Context,
    job: JobArgument,
    *,
    stage: StageOption = Stage.LOCAL,
    as_json: JsonOption = False,
) -> None:
    """Follow a job until it settles; exit 0 if it completes.

    On a terminal the table is redrawn in place; elsewhere every change is a line. Ctrl-C stops
    the watching, not the job.
    """
    from switchyard_cli.actions.follow_to_end import follow_to_end

    services = services_of(context)
    with _api(stage, services) as api:
        follow_to_end(api, job_named(job), services, as_json=as_json)


def jobs(
    context: typer.Context,
    *,
    status: StatusOption = None,
    tag: TagOption = None,
    limit: LimitOption = 20,
    cursor: CursorOption = None,
    stage: StageOption = Stage.LOCAL,
    as_json: JsonOption = False,
) -> None:
    """List jobs, newest first."""
    from switchyard_cli.terminal import clean, notices, print_json, results
    from switchyard_cli.views.listings import print_jobs

    services = services_of(context)
    with _api(stage, services) as api:
        if as_json:
            print_json(api.jobs(limit=limit, cursor=cursor, status=status, tag=tag))
            return
        page = api.listed(limit=limit, cursor=cursor, status=status, tag=tag)
        if api.is_paused():
            resume = f"`switchyard resume{stage.option}`"
            notices().print(f"Paused: no task is begun until {resume}.", style="yellow")
    print_jobs(page, results(), now_ms=services.clock.now_ms())
    if page.cursor:
        wanted = _options(status=status, tag=tag, limit=str(limit), cursor=clean(page.cursor))
        more = f"switchyard jobs {wanted}{stage.option}"
        notices().print(f"More: {more}", style="dim", soft_wrap=True)


def job(
    context: typer.Context,
    job: JobArgument,
    *,
    picture: JobPictureOption = None,
    stage: StageOption = Stage.LOCAL,
    as_json: JsonOption = False,
) -> None:
    """Show one job and its tasks."""
    from switchyard_cli.terminal import notices, print_json, results
    from switchyard_cli.views.job_table import job_table

    services = services_of(context)
    with _api(stage, services) as api:
        found = api.job(job_named(job))
        if picture:
            _draw(found, picture, api, now_ms=services.clock.now_ms())
    if picture:
        return
    if as_json:
        print_json(found)
    else:
        results().print(job_table(found, now_ms=services.clock.now_ms()))
        notices().print(f"Its trace is {found.trace_id}.", style="dim", soft_wrap=True)


def task(
    context: typer.Context,
    request: RequestArgument,
    task: TaskArgument = None,
    *,
    stage: StageOption = Stage.LOCAL,
    as_json: JsonOption = False,
) -> None:
    """Show one task: input, output, attempts, cost and files.

    Name it by its request id, or by the ids of its job and itself.
    """
    from switchyard_cli.actions.find_task import task_in
    from switchyard_cli.terminal import print_json, results
    from switchyard_cli.views.listings import print_task

    job_id, task_id = task_named(request, task)
    services = services_of(context)
    with _api(stage, services) as api:
        found = task_in(api, job_id, task_id)
    if as_json:
        print_json(found)
    else:
        print_task(found, api.endpoint, results(), now_ms=services.clock.now_ms())


def _draw(job: JobView, picture: str, api: Api, *, now_ms: int) -> None:
    from switchyard_cli.actions.registry import kinds_in
    from switchyard_cli.pictures.files import STANDARD_OUTPUT, write_picture
    from switchyard_cli.pictures.job import drawing_of_job
    from switchyard_cli.pictures.svg import svg_of
    from switchyard_cli.terminal import clean, notices

    write_picture(svg_of(drawing_of_job(job, now_ms=now_ms, kinds=kinds_in(api, job))), picture)
    if picture != STANDARD_OUTPUT:
        said = f"{clean(job.job_id)} is drawn in {clean(picture)}."
        notices().print(said, style="dim", soft_wrap=True)


def _options(**given: str | None) -> str:
    """Return the options as one would type them."""
    return " ".join(f"--{name} {quote(value)}" for name, value in given.items() if value)


def _api(stage: Stage, services: Services) -> Api:
    from switchyard_cli.connections.endpoints import endpoint_of

    endpoint = endpoint_of(stage, services)
    from switchyard_cli.connections.api import Api  # an absent cloud is reported without it

    return Api(endpoint, services.transport)
