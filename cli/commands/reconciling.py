"""`reconcile`: what the log knows that a restored state table has forgotten."""

from typing import Annotated

import typer
from rich.text import Text

from cli.api import Api
from cli.commands.events import moment_of
from cli.errors import LOG_DISAGREES
from cli.options import JsonOption, StageOption
from cli.outside import outside_of
from cli.reconciling import WHAT_TO_DO, Reconciler, Reconciliation
from cli.stages import Stage, endpoint_of
from cli.terminal import notices, print_json, results, visible
from cli.wording import counted

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
    """After the state table was restored, list the jobs of which the log knows more than the table.

    Exits with 0 only if there are none. What is unsettled in the table goes on by itself; this
    finds what nothing in the table tells of.
    """
    outside = outside_of(context)
    with Api(endpoint_of(stage, outside), outside.transport) as api:
        found = Reconciler(api).reconcile(moment_of(since) or since)
    if as_json:
        print_json(found)
    else:
        _print(found)
    if found.findings:
        raise typer.Exit(LOG_DISAGREES)


def _print(found: Reconciliation) -> None:
    looked_at = counted(found.looked_at, "job")
    console = results()
    if not found.findings:
        console.print(f"{looked_at} since then: the table knows all that the log knows.")
    for one in found.findings:
        said = f"{visible(one.job_id)}  {one.finding}: {WHAT_TO_DO[one.finding]}"
        console.print(Text(said), soft_wrap=True)
    notices().print(KEYS, style="dim", soft_wrap=True)
