"""From a job's id to its end, for every command that waits."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from switchyard_cli.actions.follow import follow
from switchyard_cli.actions.interruption import NextCommands, explaining_ctrl_c
from switchyard_cli.actions.stall_check import StallCheck
from switchyard_cli.actions.worker_check import WorkerCheck
from switchyard_cli.errors import JOB_NOT_COMPLETED
from switchyard_cli.stages import Stage
from switchyard_cli.terminal import notices, print_json, results
from switchyard_cli.views.report import report
from switchyard_cli.views.statuses import COMPLETED

if TYPE_CHECKING:
    from switchyard_cli.connections.api import Api
    from switchyard_cli.services import Services


def follow_to_end(
    api: Api, job_id: str, services: Services, *, as_json: bool, cloud_goes_down: bool = False
) -> None:
    """Show the job until it is settled, then what it left; exit with 1 unless it completed."""
    commands = NextCommands.of(api, services, cloud_goes_down=cloud_goes_down)
    console = notices() if as_json else results()
    with explaining_ctrl_c(commands.after_watching(job_id)):
        is_local = api.endpoint.stage is Stage.LOCAL
        worker = WorkerCheck(services.cloud, services.clock) if is_local else None
        check = StallCheck(api, services.clock, worker=worker)
        job = follow(api, job_id, console=console, clock=services.clock, check=check)
    if as_json:
        print_json(job)
    else:
        report(job, api, console, commands)
        closer = f"A closer look: {commands.first(f'task {job_id} TASK')}."
        notices().print(closer, style="dim", soft_wrap=True)
        if job.status != COMPLETED:
            again = commands.first(f"redrive {job_id}", options=" --watch")
            notices().print(f"Run it again with {again}.", style="dim", soft_wrap=True)
    if job.status != COMPLETED:
        raise typer.Exit(JOB_NOT_COMPLETED)
