"""`verify`: compare the event log of a job with the state table."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import typer

from switchyard_cli.connections.api import Api
from switchyard_cli.connections.endpoints import endpoint_of
from switchyard_cli.errors import LOG_DISAGREES
from switchyard_cli.ids import job_named
from switchyard_cli.options import JobArgument, JsonOption, StageOption
from switchyard_cli.services import services_of
from switchyard_cli.stages import Stage
from switchyard_cli.terminal import notices, print_json, results, visible
from switchyard_cli.views.wording import counted

if TYPE_CHECKING:
    from rich.console import Console

    from switchyard_cli.actions.verify import DifferenceView, Verification


def verify(
    context: typer.Context,
    job: JobArgument,
    *,
    stage: StageOption = Stage.LOCAL,
    as_json: JsonOption = False,
) -> None:
    """Rebuild a job from its events and compare it with the state table.

    Exits with 0 only if they agree. Events of a job under way may still be on their way: what
    differs is compared again for a few seconds, and reported as possible delay.
    """
    from switchyard_cli.actions.verify import Verifier

    services = services_of(context)
    with Api(endpoint_of(stage, services), services.transport) as api:
        found = Verifier(api, services.clock).verify(job_named(job))
    if as_json:
        print_json(found)
    else:
        _print_verification(found, results())
    if not found.agree:
        raise typer.Exit(LOG_DISAGREES)


def _print_verification(found: Verification, console: Console) -> None:
    looked_at = f"{counted(found.tasks, 'task')}, {counted(found.events, 'event')}"
    if found.agree:
        console.print(f"{looked_at}: the log and the state table agree.")
        return
    number = counted(len(found.differences), "difference")
    console.print(f"{looked_at}: {number} between the log and the state table.")
    for difference in found.differences:
        _print_difference(difference, console)
    if any(difference.may_be_delay for difference in found.differences):
        hint = "What may be delay: events travel. Try again in a moment."
        notices().print(hint, style="dim", soft_wrap=True)


def _print_difference(difference: DifferenceView, console: Console) -> None:
    from rich.text import Text

    delay = "  (may be delay)" if difference.may_be_delay else ""
    console.print(Text(f"{visible(difference.path)}{delay}", style="bold"), soft_wrap=True)
    for name, value in (("log", difference.log), ("table", difference.table)):
        said = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        console.print(Text.assemble((f"  {name:7}", "dim"), visible(said)), soft_wrap=True)
