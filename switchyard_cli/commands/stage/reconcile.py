"""`reconcile`: what the log knows that a restored state table has forgotten."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from switchyard_cli.commands.jobs.events import moment_of
from switchyard_cli.connections.api import Api
from switchyard_cli.connections.endpoints import endpoint_of
from switchyard_cli.errors import LOG_DISAGREES
from switchyard_cli.options import JsonOption, StageOption
from switchyard_cli.services import services_of
from switchyard_cli.stages import Stage
from switchyard_cli.terminal import notices, print_json, results, visible
from switchyard_cli.views.wording import counted

if TYPE_CHECKING:
    from switchyard_cli.actions.reconcile import Reconciliation

KEYS = (
    "API keys that were revoked after that moment are valid again, and those issued after it are"
    " gone: look with `switchyard keys list`."
)
SinceOption = Annotated[
    str, typer.Option(help="The moment the table was restored to: 2027-01-31T12:00, or 2h ago.")
]


def reconcile(
    context: typer.Context,
    *,
    since: SinceOption,
    stage: StageOption = Stage.LOCAL,
    as_json: JsonOption = False,
) -> None:
    """After a restore, list the jobs that differ between event log and state table.

    Exits with 0 only if there are none. Jobs that are unsettled in the table go on by themselves;
    this finds the jobs and changes that are in the event log alone.
    """
    from switchyard_cli.actions.reconcile import Reconciler

    services = services_of(context)
    with Api(endpoint_of(stage, services), services.transport) as api:
        found = Reconciler(api).reconcile(moment_of(since) or since)
    if as_json:
        print_json(found)
    else:
        _print(found)
    if found.findings:
        raise typer.Exit(LOG_DISAGREES)


def _print(found: Reconciliation) -> None:
    from rich.text import Text

    from switchyard_cli.actions.reconcile import WHAT_TO_DO

    looked_at = counted(found.looked_at, "job")
    console = results()
    if not found.findings:
        console.print(f"{looked_at} since then: the table agrees with the log.")
    for one in found.findings:
        said = f"{visible(one.job_id)}  {one.finding}: {WHAT_TO_DO[one.finding]}"
        console.print(Text(said), soft_wrap=True)
    notices().print(KEYS, style="dim", soft_wrap=True)
