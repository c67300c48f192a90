"""`cancel`: cancel a job, or one of its tasks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from switchyard.client.patience import patiently
from switchyard.client.waiting import SLOWEST_POLL_SECONDS
from switchyard_cli.connections.api import Api
from switchyard_cli.connections.endpoints import endpoint_of
from switchyard_cli.ids import job_named, task_named
from switchyard_cli.options import JobOrTaskArgument, JsonOption, StageOption, TaskArgument
from switchyard_cli.services import Services, services_of
from switchyard_cli.stages import Stage
from switchyard_cli.terminal import notices, print_json, results
from switchyard_cli.views.statuses import FINAL

if TYPE_CHECKING:
    from switchyard.contracts.jobs import TaskView

WaitOption = Annotated[
    bool, typer.Option("--wait", help="Follow the job, or the task, until it has settled.")
]


def cancel(
    context: typer.Context,
    what: JobOrTaskArgument,
    task: TaskArgument = None,
    *,
    wait: WaitOption = False,
    stage: StageOption = Stage.LOCAL,
    as_json: JsonOption = False,
) -> None:
    """Cancel a job, or one task.

    Tasks that do not run yet are cancelled at once, running tasks are stopped within
    seconds. Completed tasks stay completed.
    """
    services = services_of(context)
    with Api(endpoint_of(stage, services), services.transport) as api:
        if task is None and "__" not in what:
            _cancel_job(api, job_named(what), services, wait=wait, as_json=as_json)
        else:
            _cancel_task(api, *task_named(what, task), services, wait=wait, as_json=as_json)


def _cancel_job(api: Api, job_id: str, services: Services, *, wait: bool, as_json: bool) -> None:
    from switchyard_cli.actions.follow import follow
    from switchyard_cli.actions.interruption import NextCommands, explaining_ctrl_c
    from switchyard_cli.actions.retry import until_accepted

    accepted = until_accepted(lambda: api.cancel(job_id), services.clock)
    if wait:
        console = notices() if as_json else results()
        watch = NextCommands.of(api, services).first(f"watch {job_id}")
        with explaining_ctrl_c(f"{job_id} is being cancelled: {watch} follows it."):
            job = follow(api, job_id, console=console, clock=services.clock)
        if as_json:
            print_json(job)
    elif as_json:
        print_json(accepted)
    else:
        results().print(f"{job_id} is being cancelled.", soft_wrap=True)


def _cancel_task(
    api: Api, job_id: str, task_id: str, services: Services, *, wait: bool, as_json: bool
) -> None:
    from switchyard_cli.actions.find_task import suggesting_task
    from switchyard_cli.actions.retry import until_accepted
    from switchyard_cli.views.listings import print_task

    with suggesting_task(api, job_id, task_id):
        accepted = until_accepted(lambda: api.cancel_task(job_id, task_id), services.clock)
    settled = _settled(api, job_id, task_id, services) if wait else None
    if as_json:
        print_json(settled or accepted)
    elif settled:
        print_task(settled, api.endpoint, results(), now_ms=services.clock.now_ms())
    elif accepted.status in FINAL:
        results().print(f"{accepted.request_id} is cancelled.", soft_wrap=True)
    else:
        said = f"{accepted.request_id} is {accepted.status}, and will be cancelled."
        results().print(said, soft_wrap=True)


def _settled(api: Api, job_id: str, task_id: str, services: Services) -> TaskView:
    task = api.task(job_id, task_id)
    while task.status not in FINAL:
        services.clock.sleep(SLOWEST_POLL_SECONDS)
        task = patiently(lambda: api.task(job_id, task_id), services.clock)
    return task
