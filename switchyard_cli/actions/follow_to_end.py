"""From a job's id to its end, for every command that waits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import typer

from switchyard_cli.actions.follow import follow
from switchyard_cli.actions.stall_check import StallCheck
from switchyard_cli.actions.worker_check import WorkerCheck
from switchyard_cli.errors import JOB_NOT_COMPLETED, Interrupted
from switchyard_cli.stages import Stage
from switchyard_cli.terminal import notices, print_json, results
from switchyard_cli.views.report import report
from switchyard_cli.views.statuses import COMPLETED

if TYPE_CHECKING:
    from switchyard_cli.connections.api import Api
    from switchyard_cli.services import Services

COMMAND_VARIABLE: Final = "SWITCHYARD_COMMAND"
"""Names the command with its path where it is not on the user's PATH: `make run` sets it."""


def follow_to_end(
    api: Api, job_id: str, services: Services, *, as_json: bool, cloud_goes_down: bool = False
) -> None:
    """Show the job until it is settled, then what it left; exit with 1 unless it completed."""
    stage = api.endpoint.stage.option
    command = services.environment.get(COMMAND_VARIABLE, "switchyard")
    first = f"`{command} up`, then " if cloud_goes_down else ""
    console = notices() if as_json else results()
    is_local = api.endpoint.stage is Stage.LOCAL
    worker = WorkerCheck(services.cloud, services.clock) if is_local else None
    check = StallCheck(api, services.clock, worker=worker)
    try:
        job = follow(api, job_id, console=console, clock=services.clock, check=check)
    except KeyboardInterrupt as interrupt:
        goes_on = "goes on when the local cloud is up again" if cloud_goes_down else "goes on"
        again = f"{first}`{command} watch {job_id}{stage}`"
        raise Interrupted(f"Stopped watching; the job {goes_on}: {again}.") from interrupt
    if as_json:
        print_json(job)
    else:
        report(job, api, console)
        closer = f"A closer look: {first}`{command} task {job_id} TASK{stage}`."
        notices().print(closer, style="dim", soft_wrap=True)
        if job.status != COMPLETED:
            again = f"{first}`{command} redrive {job_id}{stage} --watch`"
            notices().print(f"Run it again with {again}.", style="dim", soft_wrap=True)
    if job.status != COMPLETED:
        raise typer.Exit(JOB_NOT_COMPLETED)
