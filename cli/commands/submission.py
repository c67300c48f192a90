"""`run` and `submit`: from a job file to a job."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from cli.api import Api
from cli.commands.cloud import saying
from cli.errors import BadInput
from cli.files.job_file import SourcedJob, read_job
from cli.options import JobFileArgument, JsonOption, StageOption
from cli.outside import outside_of
from cli.plan import plan_of, print_plan
from cli.seeing_through import see_through
from cli.stages import Stage, endpoint_of, local_endpoint
from cli.submitting import submit as send
from cli.terminal import notices, print_json, results
from cli.wording import counted
from local.interrupts import signals_interrupt
from switchyard.contracts.jobs import JobAccepted
from switchyard.domain.access.credentials import CLAUDE_CREDENTIALS
from switchyard.domain.jobs.submission_keys import problem_with_key

WatchOption = Annotated[
    bool, typer.Option("--watch", help="Follow the job; exit 0 only if it completes.")
]
DryRunOption = Annotated[
    bool, typer.Option("--dry-run", help="Check the file and show the plan; send nothing.")
]


KeyOption = Annotated[
    str | None,
    typer.Option(
        "--key",
        help="Whoever submits the same file under the same key within 24 hours is answered with "
        "the same job; another file is refused. A new one each time, unless you give yours: with "
        "it you can safely run a command again that was interrupted.",
    ),
]


def run(context: typer.Context, file: JobFileArgument, *, as_json: JsonOption = False) -> None:
    """Run a job on this machine and show it live.

    Starts the local cloud unless it is up, submits the job through its API, follows it, prints
    the results and where the files are, and stops what it started.
    """
    outside = outside_of(context)
    job = read_job(file)
    say = saying(notices())
    say(agent_in(outside.environment))
    with (
        signals_interrupt(),
        outside.cloud.borrowed(say) as goes_down,
        Api(local_endpoint(outside), outside.transport) as api,
    ):
        job_id = send(job, api, key=outside.new_key(), clock=outside.clock).job_id
        see_through(api, job_id, outside, as_json=as_json, cloud_goes_down=goes_down)


def submit(
    context: typer.Context,
    file: JobFileArgument,
    *,
    watch: WatchOption = False,
    dry_run: DryRunOption = False,
    key: KeyOption = None,
    stage: StageOption = Stage.LOCAL,
    as_json: JsonOption = False,
) -> None:
    """Submit a job.

    The file is checked first and every problem is listed with its line. The task definitions
    in it are registered; one that did not change keeps its version.
    """
    job = read_job(file)
    _check(key)
    if dry_run:
        _show_plan(job, file, as_json=as_json)
        return
    outside = outside_of(context)
    with Api(endpoint_of(stage, outside), outside.transport) as api:
        accepted = send(job, api, key=key or outside.new_key(), clock=outside.clock)
        if watch:
            see_through(api, accepted.job_id, outside, as_json=as_json)
        elif as_json:
            print_json(accepted)
        else:
            _print_accepted(accepted, stage)


def _check(key: str | None) -> None:
    problem = problem_with_key(key) if key is not None else None
    if problem:
        raise BadInput(f"--key {problem}.")


def agent_in(environment: Mapping[str, str]) -> str:
    for credential in CLAUDE_CREDENTIALS:
        if environment.get(credential):
            return f"Tasks are done by Claude ({credential} is set)."
    return (
        "Tasks are done by the offline agent, which makes up plausible answers. "
        f"For Claude, set {' or '.join(CLAUDE_CREDENTIALS)}."
    )


def _show_plan(job: SourcedJob, file: Path, *, as_json: bool) -> None:
    if as_json:
        print_json(plan_of(job.content))
        return
    print_plan(job.content, results())
    notices().print(f"{file} is valid; nothing was sent.", style="dim", soft_wrap=True)


def _print_accepted(accepted: JobAccepted, stage: Stage) -> None:
    console = results()
    console.print(f"{accepted.job_id}: {counted(accepted.total_tasks, 'task')}", soft_wrap=True)
    notices().print(f"Its trace is {accepted.trace_id}.", style="dim", soft_wrap=True)
    hint = f"Watch it with `switchyard watch {accepted.job_id}{stage.option}`."
    notices().print(hint, style="dim", soft_wrap=True)
