"""`up`, `down`, `status`: the cloud on this machine."""

from dataclasses import asdict

import typer
from rich.console import Console

from cli.errors import Unreachable
from cli.options import JsonOption
from cli.outside import outside_of
from cli.terminal import notices, print_json, results
from local.cloud import Status
from local.say import Say, heard_or_not
from switchyard.contracts.wire import Written


class CloudStatus(Written):
    running: bool
    healthy: bool
    port: int
    api_url: str | None
    ministack_pid: int | None
    worker_pid: int | None


def up(context: typer.Context) -> None:
    """Start the local cloud, or bring it up to date.

    Deploys the same stacks as to AWS into a cloud on this machine and starts a worker. Needs no
    AWS account, no Docker and no API key.
    """
    endpoint = outside_of(context).cloud.up(saying(notices()))
    results().print(f"The local cloud is up: {endpoint.api_url}", soft_wrap=True)


def down(context: typer.Context) -> None:
    """Stop the local cloud. Its jobs and files stay for the next `up`."""
    outside_of(context).cloud.down(saying(notices()))
    results().print("The local cloud is down.")


def status(context: typer.Context, *, as_json: JsonOption = False) -> None:
    """Tell whether the local cloud runs and answers.

    Exits with 0 only if it does, otherwise with 3.
    """
    found = outside_of(context).cloud.status()
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


def _print_status(found: Status, console: Console) -> None:
    if not found.running:
        console.print("The local cloud is not running. Start it with `switchyard up`.")
        return
    state = "is up" if found.healthy else "runs, but does not answer as it should; try `up` again"
    console.print(f"The local cloud {state}.")
    console.print(f"  API     {found.api_url or 'not deployed'}", soft_wrap=True)
    console.print(f"  Cloud   process {found.ministack_pid}, port {found.port}")
    console.print(f"  Worker  {f'process {found.worker_pid}' if found.worker_pid else 'none'}")
