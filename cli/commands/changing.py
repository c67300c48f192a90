"""`cancel` and `redrive`: changing what was submitted."""

from pathlib import Path
from typing import Annotated, Any

import typer
from pydantic import ValidationError

from cli.api import Api
from cli.errors import BadInput
from cli.files.document import Document, read_document
from cli.listings import print_task
from cli.named import job_named, task_named
from cli.options import JobArgument, JsonOption, StageOption, TaskArgument
from cli.outside import Outside, outside_of
from cli.patience import until_accepted
from cli.seeing_through import see_through
from cli.stages import Stage, endpoint_of
from cli.statuses import FINAL
from cli.terminal import notices, print_json, results
from cli.watching import follow
from cli.wording import counted
from switchyard.client.errors import Refused
from switchyard.client.patience import patiently
from switchyard.client.waiting import SLOWEST_POLL_SECONDS
from switchyard.contracts.changes import RedriveAccepted, RedriveJob
from switchyard.contracts.definitions import TWELVE_HOURS_MS
from switchyard.contracts.jobs import TaskView
from switchyard.contracts.problems import validation_problems
from switchyard.domain.errors import Problem

WhatArgument = Annotated[
    str,
    typer.Argument(metavar="JOB|TASK", help="A job's id, or a task's request id (job-…__task)."),
]
WaitOption = Annotated[
    bool, typer.Option("--wait", help="Follow the job, or the task, until it has settled.")
]
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
InputOption = Annotated[
    Path | None,
    typer.Option("--input", help="Its new input, in YAML or JSON; needs exactly one --task."),
]
ModelOption = Annotated[str | None, typer.Option(help="The model that does them from now on.")]
TurnsOption = Annotated[
    int | None, typer.Option(min=1, max=200, help="How often an agent may take its turn.")
]
TimeoutOption = Annotated[
    int | None,
    typer.Option(min=1_000, max=TWELVE_HOURS_MS, help="Milliseconds that an attempt may take."),
]
CostOption = Annotated[
    float | None, typer.Option(min=0, max=10_000, help="What one attempt may spend.")
]


def cancel(
    context: typer.Context,
    what: WhatArgument,
    task: TaskArgument = None,
    *,
    wait: WaitOption = False,
    stage: StageOption = Stage.LOCAL,
    as_json: JsonOption = False,
) -> None:
    """Cancel a job, or one task.

    What nobody runs yet is cancelled at once, what runs is stopped within seconds, and what waits
    is cancelled when its turn comes. What has completed stays.
    """
    outside = outside_of(context)
    with Api(endpoint_of(stage, outside), outside.transport) as api:
        if task is None and "__" not in what:
            _cancel_job(api, job_named(what), outside, wait=wait, as_json=as_json)
        else:
            _cancel_task(api, *task_named(what, task), outside, wait=wait, as_json=as_json)


def redrive(  # noqa: PLR0913 - one per option
    context: typer.Context,
    job: JobArgument,
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
    """Run again what did not complete in a job that has settled.

    With what follows it; what has completed is kept. A new input, model or limit is that of the
    tasks that are redriven, not of those that follow them.
    """
    document = read_document(input_file) if input_file else None
    limits = {"maxTurns": max_turns, "timeout": timeout, "maxCostUsd": max_cost_usd}
    request = _request(tasks or [], document, {"model": model, **limits})
    outside = outside_of(context)
    with Api(endpoint_of(stage, outside), outside.transport) as api:
        job_id = job_named(job)
        accepted = _redriven(api, job_id, request, document, outside)
        if watch:
            see_through(api, job_id, outside, as_json=as_json)
        elif as_json:
            print_json(accepted)
        else:
            _print_redriven(accepted, stage)


def _cancel_job(api: Api, job_id: str, outside: Outside, *, wait: bool, as_json: bool) -> None:
    accepted = until_accepted(lambda: api.cancel(job_id), outside.clock)
    if wait:
        console = notices() if as_json else results()
        job = follow(api, job_id, console=console, clock=outside.clock, check=lambda: None)
        if as_json:
            print_json(job)
    elif as_json:
        print_json(accepted)
    else:
        results().print(f"{job_id} is being cancelled.", soft_wrap=True)


def _cancel_task(
    api: Api, job_id: str, task_id: str, outside: Outside, *, wait: bool, as_json: bool
) -> None:
    accepted = until_accepted(lambda: api.cancel_task(job_id, task_id), outside.clock)
    settled = _settled(api, job_id, task_id, outside) if wait else None
    if as_json:
        print_json(settled or accepted)
    elif settled:
        print_task(settled, api.endpoint, results())
    elif accepted.status in FINAL:
        results().print(f"{accepted.request_id} is cancelled.", soft_wrap=True)
    else:
        said = f"{accepted.request_id} is {accepted.status}, and will be cancelled."
        results().print(said, soft_wrap=True)


def _settled(api: Api, job_id: str, task_id: str, outside: Outside) -> TaskView:
    task = api.task(job_id, task_id)
    while task.status not in FINAL:
        outside.clock.sleep(SLOWEST_POLL_SECONDS)
        task = patiently(lambda: api.task(job_id, task_id), outside.clock)
    return task


def _request(tasks: list[str], document: Document | None, asked: dict[str, Any]) -> RedriveJob:
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
    api: Api, job_id: str, request: RedriveJob, document: Document | None, outside: Outside
) -> RedriveAccepted:
    try:
        return until_accepted(lambda: api.redrive(job_id, request), outside.clock)
    except Refused as refused:
        if not refused.problems:
            raise
        raise _refused(refused.problems, document) from refused


def _refused(problems: Any, document: Document | None) -> BadInput:
    """Those of the input on its lines."""
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
