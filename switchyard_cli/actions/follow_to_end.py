"""Follows a job from its id to its end, for every command that waits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import typer

from switchyard_cli.actions.decisions import GivenDecisions
from switchyard_cli.actions.follow import Check, follow
from switchyard_cli.actions.interruption import NextCommands, explaining_ctrl_c
from switchyard_cli.actions.stall_check import StallCheck
from switchyard_cli.actions.worker_check import WorkerCheck
from switchyard_cli.errors import JOB_NOT_COMPLETED
from switchyard_cli.stages import Stage
from switchyard_cli.terminal import notices, print_json, results
from switchyard_cli.views.report import report
from switchyard_cli.views.statuses import COMPLETED

if TYPE_CHECKING:
    from switchyard.contracts.jobs import JobView
    from switchyard_cli.connections.api import Api
    from switchyard_cli.services import Services


def follow_to_end(
    api: Api,
    job_id: str,
    services: Services,
    *,
    as_json: bool,
    cloud_goes_down: bool = False,
    decisions: Mapping[str, bool] | None = None,
) -> None:
    """Show the job until it is settled, then what it left; exit with 1 unless it completed.

    Approvals that `decisions` names are decided when the job comes to them.
    """
    commands = NextCommands.of(api, services, cloud_goes_down=cloud_goes_down)
    console = notices() if as_json else results()
    with explaining_ctrl_c(commands.after_watching(job_id)):
        is_local = api.endpoint.stage is Stage.LOCAL
        worker = WorkerCheck(services.cloud, services.clock) if is_local else None
        check: Check = StallCheck(api, services.clock, worker=worker)
        if decisions:
            check = _deciding(GivenDecisions(decisions, api, services), check)
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


def _deciding(decisions: GivenDecisions, check: Check) -> Check:
    """Return a check that decides first, and says nothing of what was decided just now."""

    def decide_and_check(job: JobView) -> str | None:
        return None if decisions.decide(job) else check(job)

    return decide_and_check
