"""`run` and `submit`: from a job file to a job."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from switchyard.domain.access.credentials import CLAUDE_CREDENTIALS
from switchyard_cli.connections.api import Api
from switchyard_cli.connections.endpoints import endpoint_of, local_endpoint
from switchyard_cli.errors import BadInput
from switchyard_cli.options import JobFileArgument, JsonOption, StageOption
from switchyard_cli.services import Services, services_of
from switchyard_cli.stages import Stage
from switchyard_cli.terminal import clean, notices, print_json, results
from switchyard_cli.views.wording import counted
from switchyard_local.interrupts import signals_interrupt

if TYPE_CHECKING:
    from pathlib import Path

    from switchyard.client.uploads import LocalFile
    from switchyard.contracts.jobs import JobAccepted
    from switchyard.domain.errors import Problem
    from switchyard.functions.definitions import FunctionDefinitions
    from switchyard_cli.files.job_file import SourcedJob
    from switchyard_cli.files.readable import Readable

WatchOption = Annotated[
    bool, typer.Option("--watch", help="Follow the job; exit 0 only if it completes.")
]
DryRunOption = Annotated[
    bool, typer.Option("--dry-run", help="Check the file and show the plan; send nothing.")
]


FileOption = Annotated[
    list[str] | None,
    typer.Option(
        "--file",
        metavar="NAME=PATH",
        help="A file to submit with the job, up to 100 MB; tasks ask for it as job/NAME. Again for "
        "each file.",
    ),
]
PictureOption = Annotated[
    str | None,
    typer.Option(
        metavar="FILE",
        help="With --dry-run, draw the plan as an SVG picture to this file; - is standard output.",
    ),
]
KeyOption = Annotated[
    str | None,
    typer.Option(
        "--key",
        help="An idempotency key: the same file under the same key is answered with the same job "
        "for 24 hours, and another file is refused. Give one to repeat an interrupted command "
        "safely; without it each submission has a new one.",
    ),
]


FunctionsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--functions",
        metavar="PATH",
        help="The folder of a Python package: its functions are registered, and the local worker "
        "serves them, too. Again for each package.",
    ),
]
DecideOption = Annotated[
    list[str] | None,
    typer.Option(
        "--decide",
        metavar="TASK=approve",
        help="Approve, or with TASK=reject reject, what this task of the job asks. Again for each "
        "approval.",
    ),
]


def run(
    context: typer.Context,
    file: JobFileArgument,
    *,
    files: FileOption = None,
    functions: FunctionsOption = None,
    decide: DecideOption = None,
    as_json: JsonOption = False,
) -> None:
    """Run a job on this machine and show its progress.

    Starts the local cloud unless it is up, submits the job through its API, follows it, prints
    the results and where the files are, and stops what it started.
    """
    from switchyard_cli.actions.decisions import given_decisions
    from switchyard_cli.actions.follow_to_end import follow_to_end
    from switchyard_cli.actions.submit import submit as send
    from switchyard_cli.actions.upload import named_files
    from switchyard_cli.commands.local.cloud import saying
    from switchyard_cli.files.job_file import read_job

    services = services_of(context)
    given = named_files(files or ())
    job = read_job(file, files=[one.name for one in given])
    decisions = given_decisions(decide or (), job.content)
    sent, packages = _from_this_machine(job, given, functions or ())
    served = [str(package.package.path) for package in packages]
    say = saying(notices())
    say(agent_in(services.environment))
    with (
        signals_interrupt(),
        services.cloud.borrowed(say, functions=served) as goes_down,
        Api(local_endpoint(services), services.transport) as api,
    ):
        submit_to = partial(send, services=services, cloud_goes_down=goes_down)
        accepted = submit_to(job, api, key=services.new_key(), files=sent, packages=packages)
        watched = partial(follow_to_end, as_json=as_json, cloud_goes_down=goes_down)
        watched(api, accepted.job_id, services, decisions=decisions)


def submit(  # noqa: PLR0913 - one per option
    context: typer.Context,
    file: JobFileArgument,
    *,
    watch: WatchOption = False,
    dry_run: DryRunOption = False,
    files: FileOption = None,
    picture: PictureOption = None,
    key: KeyOption = None,
    stage: StageOption = Stage.LOCAL,
    as_json: JsonOption = False,
) -> None:
    """Submit a job.

    The file is checked first and every problem is listed with its line. The task definitions
    in it are registered; an unchanged one stays at its version.
    """
    from switchyard_cli.actions.follow_to_end import follow_to_end
    from switchyard_cli.actions.submit import submit as send
    from switchyard_cli.actions.upload import named_files
    from switchyard_cli.files.job_file import read_job

    services = services_of(context)
    given = named_files(files or ())
    read = partial(read_job, file, files=[one.name for one in given])
    _check(key, picture, dry_run=dry_run)
    if dry_run:
        look = partial(_static_problems, folder=file.parent, stage=stage, services=services)
        _show_plan(read, look, given, as_json=as_json, picture=picture)
        return
    job = read()
    sent, packages = _from_this_machine(job, given)
    with Api(endpoint_of(stage, services), services.transport) as api:
        new = partial(send, key=key or services.new_key(), services=services)
        accepted = new(job, api, files=sent, packages=packages)
        _say_if_repeated(accepted)
        if watch:
            follow_to_end(api, accepted.job_id, services, as_json=as_json)
        else:
            _print_accepted(accepted, stage, as_json=as_json)


def _from_this_machine(
    job: SourcedJob, given: Sequence[LocalFile], functions: Sequence[str] = ()
) -> tuple[list[LocalFile], list[FunctionDefinitions]]:
    """Return the files and the functions that go with a job. Raise `BadInput`."""
    from switchyard_cli.actions.functions import described
    from switchyard_cli.actions.upload import files_to_send

    beside = job.beside()
    places = [*map(str, beside.functions), *functions]
    packages = [described(place) for place in places]
    return files_to_send(given, beside), packages


def _say_if_repeated(accepted: JobAccepted) -> None:
    if accepted.repeated:
        said = f"This key was used before: {accepted.job_id} is the job that it started"
        when = f"{accepted.created_at:%Y-%m-%d %H:%M} UTC"
        notices().print(f"{said} at {when}.", style="yellow", soft_wrap=True)


def _static_problems(
    file: Readable, *, folder: Path, stage: Stage, services: Services, kinds: dict[str, str]
) -> list[Problem]:
    """Find every problem that is certain, with the registered definitions if they can be read.

    Put into `kinds` what these are: agent or code.
    """
    from switchyard_cli.actions.functions import names_of_functions
    from switchyard_cli.actions.submit import look_up_definitions
    from switchyard_cli.files.document import field_name
    from switchyard_cli.files.static_checks import static_problems, static_warnings

    if file.local:
        file = replace(file, defined=file.defined | names_of_functions(folder, file.local))
    registered, problems = look_up_definitions(file, stage, services)
    kinds.update({name: one.kind for name, one in registered.items()})
    for warning in static_warnings(file, registered):
        said = f"Warning: {field_name(warning.path)}: {warning.message}"
        notices().print(clean(said), style="yellow", soft_wrap=True)
    return [*problems, *static_problems(file, registered)]


def _check(key: str | None, picture: str | None, *, dry_run: bool) -> None:
    from switchyard.domain.jobs.submission_keys import problem_with_key

    problem = problem_with_key(key) if key is not None else None
    if problem:
        raise BadInput(f"--key {problem}.")
    if picture and not dry_run:
        raise BadInput("--picture draws a plan: add --dry-run, or draw the job that it becomes.")


def agent_in(environment: Mapping[str, str]) -> str:
    for credential in CLAUDE_CREDENTIALS:
        if environment.get(credential):
            return f"Tasks are done by Claude ({credential} is set), and cost money."
    return (
        "Tasks are done by the offline agent, which makes up plausible answers. "
        f"For Claude, set {' or '.join(CLAUDE_CREDENTIALS)}."
    )


def _show_plan(
    read: Callable[..., SourcedJob],
    look: Callable[..., list[Problem]],
    given: Sequence[LocalFile],
    *,
    as_json: bool,
    picture: str | None,
) -> None:
    """Check the file with the registered definitions, and show what they are in its plan."""
    from switchyard_cli.views.plan import plan_of, print_plan

    kinds: dict[str, str] = {}
    job = read(also=partial(look, kinds=kinds))
    _from_this_machine(job, given)
    if picture:
        from switchyard_cli.pictures.files import STANDARD_OUTPUT, write_picture
        from switchyard_cli.pictures.plan import drawing_of_plan
        from switchyard_cli.pictures.svg import svg_of

        write_picture(svg_of(drawing_of_plan(job.content, kinds)), picture)
        if picture == STANDARD_OUTPUT:
            return
    if as_json:
        print_json(plan_of(job.content))
        return
    print_plan(job.content, results(), kinds)
    said = f"{job.document.file} is valid; nothing was sent."
    notices().print(said, style="dim", soft_wrap=True)


def _print_accepted(accepted: JobAccepted, stage: Stage, *, as_json: bool) -> None:
    if as_json:
        print_json(accepted)
        return
    console = results()
    console.print(f"{accepted.job_id}: {counted(accepted.total_tasks, 'task')}", soft_wrap=True)
    notices().print(f"Its trace is {accepted.trace_id}.", style="dim", soft_wrap=True)
    hint = f"Watch it with `switchyard watch {accepted.job_id}{stage.option}`."
    notices().print(hint, style="dim", soft_wrap=True)
