"""`up`, `down`, `status`: the cloud on this machine."""

import json
from dataclasses import asdict

import typer
from rich.console import Console

from cli.options import JsonOption
from cli.outside import Say, outside_of
from cli.terminal import notices, results
from local.cloud import Status


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
    """Tell whether the local cloud runs and answers."""
    found = outside_of(context).cloud.status()
    if as_json:
        typer.echo(json.dumps({"running": found.running, **asdict(found)}, indent=2))
    else:
        _print_status(found, results())


def saying(console: Console) -> Say:
    return lambda line: console.print(line, style="dim", soft_wrap=not console.is_terminal)


def _print_status(found: Status, console: Console) -> None:
    if not found.running:
        console.print("The local cloud is not running. Start it with `switchyard up`.")
        return
    state = "is up" if found.healthy else "runs, but does not answer as it should; try `up` again"
    console.print(f"The local cloud {state}.")
    console.print(f"  API     {found.api_url or 'not deployed'}", soft_wrap=True)
    console.print(f"  Cloud   process {found.ministack_pid}, port {found.port}")
    console.print(f"  Worker  {f'process {found.worker_pid}' if found.worker_pid else 'none'}")
