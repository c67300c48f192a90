"""`approvals`: list what waits for a person."""

from __future__ import annotations

from typing import Annotated

import typer

from switchyard_cli.options import JsonOption, StageOption
from switchyard_cli.services import services_of
from switchyard_cli.stages import Stage

LimitOption = Annotated[int, typer.Option(min=1, max=100, help="How many approvals to list.")]
CursorOption = Annotated[
    str | None, typer.Option(help="Continue after the previous page, which prints this value.")
]


def approvals(
    context: typer.Context,
    *,
    limit: LimitOption = 20,
    cursor: CursorOption = None,
    stage: StageOption = Stage.LOCAL,
    as_json: JsonOption = False,
) -> None:
    """List approvals that wait for a person.

    They are those of open jobs, of the newest first. One request looks at a hundred jobs; the next
    page goes on with the others.
    """
    from shlex import quote

    from switchyard_cli.connections.api import Api
    from switchyard_cli.connections.endpoints import endpoint_of
    from switchyard_cli.terminal import clean, notices, print_json, results
    from switchyard_cli.views.listings import print_approvals

    services = services_of(context)
    with Api(endpoint_of(stage, services), services.transport) as api:
        page = api.approvals(limit=limit, cursor=cursor)
    if as_json:
        print_json(page)
        return
    print_approvals(page, results(), now_ms=services.clock.now_ms())
    if page.approvals:
        decide = f"`switchyard approve JOB TASK{stage.option}`, or `reject`"
        notices().print(f"Decide with {decide}.", style="dim", soft_wrap=True)
    if page.cursor:
        wanted = f"--limit {limit} --cursor {quote(clean(page.cursor))}"
        more = f"switchyard approvals {wanted}{stage.option}"
        notices().print(f"More: {more}", style="dim", soft_wrap=True)
