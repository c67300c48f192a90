"""`watch`, `jobs`, `job`, `task`: looking at what was submitted."""

from shlex import quote
from typing import Annotated

import typer

from cli.api import Api
from cli.listings import print_jobs, print_task
from cli.named import job_named, task_named
from cli.options import JobArgument, JsonOption, StageOption, TaskArgument
from cli.outside import Outside, outside_of
from cli.picture import picture
from cli.seeing_through import see_through
from cli.stages import Stage, endpoint_of
from cli.terminal import clean, notices, print_json, results
from switchyard.domain.states import JobStatus

LimitOption = Annotated[int, typer.Option(min=1, max=100, help="How many jobs to list.")]
CursorOption = Annotated[
    str | None, typer.Option(help="Where to go on, as the previous page told.")
]
StatusOption = Annotated[JobStatus | None, typer.Option(help="Only those in this status.")]
TagOption = Annotated[
    str | None, typer.Option(metavar="KEY:VALUE", help="Only those with this tag.")
]
RequestArgument = Annotated[str, typer.Argument(help="A request id (job-…__task), or a job's id.")]


def watch(
    context: typer.Context,
    job: JobArgument,
    *,
    stage: StageOption = Stage.LOCAL,
    as_json: JsonOption = False,
) -> None:
    """Follow a job to its end; exit 0 only if it completes.

    On a terminal the picture is redrawn in place; elsewhere every change is a line. Ctrl-C stops
    the watching, not the job.
    """
    outside = outside_of(context)
    with _api(stage, outside) as api:
        see_through(api, job_named(job), outside, as_json=as_json)


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
    outside = outside_of(context)
    with _api(stage, outside) as api:
        page = api.jobs(limit=limit, cursor=cursor, status=status, tag=tag)
        if not as_json and api.health().paused:
            resume = f"`switchyard resume{stage.option}`"
            notices().print(f"Paused: no task is begun until {resume}.", style="yellow")
    if as_json:
        print_json(page)
        return
    print_jobs(page, results(), now_ms=outside.clock.now_ms())
    if page.cursor:
        wanted = _options(status=status, tag=tag, limit=str(limit), cursor=clean(page.cursor))
        more = f"switchyard jobs {wanted}{stage.option}"
        notices().print(f"More: {more}", style="dim", soft_wrap=True)


def job(
    context: typer.Context,
    job: JobArgument,
    *,
    stage: StageOption = Stage.LOCAL,
    as_json: JsonOption = False,
) -> None:
    """Show one job and its tasks, as they are now."""
    outside = outside_of(context)
    with _api(stage, outside) as api:
        found = api.job(job_named(job))
    if as_json:
        print_json(found)
    else:
        results().print(picture(found, now_ms=outside.clock.now_ms()))
        notices().print(f"Its trace is {found.trace_id}.", style="dim", soft_wrap=True)


def task(
    context: typer.Context,
    request: RequestArgument,
    task: TaskArgument = None,
    *,
    stage: StageOption = Stage.LOCAL,
    as_json: JsonOption = False,
) -> None:
    """Show one task: input, output, attempts, cost, files.

    Name it by its request id, or by the ids of its job and itself.
    """
    job_id, task_id = task_named(request, task)
    with _api(stage, outside_of(context)) as api:
        found = api.task(job_id, task_id)
    if as_json:
        print_json(found)
    else:
        print_task(found, api.endpoint, results())


def _options(**given: str | None) -> str:
    """As one would type them."""
    return " ".join(f"--{name} {quote(value)}" for name, value in given.items() if value)


def _api(stage: Stage, outside: Outside) -> Api:
    return Api(endpoint_of(stage, outside), outside.transport)
