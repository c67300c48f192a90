"""`up`, `down`, `status`: the cloud on this machine."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from switchyard_cli.errors import BadInput, Unreachable
from switchyard_cli.options import JsonOption
from switchyard_cli.services import services_of
from switchyard_cli.terminal import notices, print_json, results
from switchyard_local.errors import not_running
from switchyard_local.say import Say, heard_or_not

if TYPE_CHECKING:
    from rich.console import Console

    from switchyard_local.cloud import Status


FunctionsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--functions",
        metavar="PATH",
        help="The folder of a Python package whose functions the worker serves from now on. May be "
        "given several times.",
    ),
]
NoFunctionsOption = Annotated[
    bool, typer.Option("--no-functions", help="Serve no functions from now on.")
]


def up(
    context: typer.Context,
    *,
    functions: FunctionsOption = None,
    no_functions: NoFunctionsOption = False,
) -> None:
    """Start the local cloud, or update it.

    Deploys the same stacks as to AWS into a cloud on this machine and starts a worker. Needs no
    AWS account, no Docker and no API key.
    """
    if functions and no_functions:
        raise BadInput("Give either --functions or --no-functions.")
    served = [] if no_functions else functions or None
    endpoint = services_of(context).cloud.up(saying(notices()), functions=served)
    results().print(f"The local cloud is up: {endpoint.api_url}", soft_wrap=True)


def down(context: typer.Context) -> None:
    """Stop the local cloud and keep its data."""
    services_of(context).cloud.down(saying(notices()))
    results().print("The local cloud is down.")


def status(context: typer.Context, *, as_json: JsonOption = False) -> None:
    """Say whether the local cloud is up.

    Exits with 0 only if it does, otherwise with 3.
    """
    from switchyard_cli.views.printed import CloudStatus

    found = services_of(context).cloud.status()
    if as_json:
        print_json(CloudStatus(running=found.running, **asdict(found)))
    else:
        _print_status(found, results())
    if not found.healthy:
        raise typer.Exit(Unreachable.exit_code)


def saying(console: Console) -> Say:
    def say(line: str) -> None:
        console.print(line, style="dim", soft_wrap=not console.is_terminal)

    return heard_or_not(say)


def _state(found: Status) -> str:
    if found.healthy:
        return "is up"
    if found.worker_pid is None:
        return "runs, but has no worker; try `up` again"
    return "runs, but does not answer as it should; try `up` again"


def _print_status(found: Status, console: Console) -> None:
    if not found.running:
        console.print(not_running())
        return
    console.print(f"The local cloud {_state(found)}.")
    console.print(f"  API     {found.api_url or 'not deployed'}", soft_wrap=True)
    console.print(f"  Cloud   process {found.ministack_pid}, port {found.port}")
    console.print(f"  Worker  {f'process {found.worker_pid}' if found.worker_pid else 'none'}")
