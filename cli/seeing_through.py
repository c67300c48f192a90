"""From a job's id to its end, for every command that waits."""

import typer

from cli.api import Api
from cli.errors import JOB_NOT_COMPLETED, Interrupted
from cli.outside import Outside
from cli.report import report
from cli.stages import Stage
from cli.statuses import COMPLETED
from cli.terminal import notices, print_json, results
from cli.watching import follow
from cli.worker_check import WorkerCheck


def see_through(
    api: Api, job_id: str, outside: Outside, *, as_json: bool, cloud_goes_down: bool = False
) -> None:
    """Show the job until it is settled, then what it left; exit with 1 unless it completed."""
    stage = api.endpoint.stage.option
    first = "`switchyard up`, then " if cloud_goes_down else ""
    console = notices() if as_json else results()
    is_local = api.endpoint.stage is Stage.LOCAL
    check = WorkerCheck(outside.cloud, outside.clock) if is_local else lambda: None
    try:
        job = follow(api, job_id, console=console, clock=outside.clock, check=check)
    except KeyboardInterrupt as interrupt:
        goes_on = "goes on when the local cloud is up again" if cloud_goes_down else "goes on"
        again = f"{first}`switchyard watch {job_id}{stage}`"
        raise Interrupted(f"Stopped watching; the job {goes_on}: {again}.") from interrupt
    if as_json:
        print_json(job)
    else:
        report(job, api, console)
        closer = f"A closer look: {first}`switchyard task {job_id} TASK{stage}`."
        notices().print(closer, style="dim", soft_wrap=True)
    if job.status != COMPLETED:
        raise typer.Exit(JOB_NOT_COMPLETED)
