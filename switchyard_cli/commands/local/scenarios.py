"""`scenarios`: what a queue can do to a worker, tried out and judged."""

from pathlib import Path
from typing import Annotated

import typer

from switchyard_cli.errors import BadInput
from switchyard_cli.options import JsonOption
from switchyard_cli.services import services_of
from switchyard_cli.stages import Stage
from switchyard_cli.terminal import notices, results

NamesArgument = Annotated[
    list[str] | None, typer.Argument(help="Names from `--list`; all by default.")
]
ListOption = Annotated[bool, typer.Option("--list", help="List the scenarios and exit.")]
WhereOption = Annotated[
    Stage,
    typer.Option(
        "--stage",
        help="Where its own queues and tables are made, with your AWS credentials unless it is "
        "local. Workers run here. Never prod.",
    ),
]
AtOnceOption = Annotated[int, typer.Option(min=1, max=4, help="How many run beside each other.")]
KeepOption = Annotated[bool, typer.Option("--keep", help="Leave queues and tables for inspection.")]
RoleOption = Annotated[
    str,
    typer.Option(
        "--function-role",
        help="On a deployed stage: the ARN of a role that a Lambda function may have to read its "
        "queue. Without it, that half of partial-batch is not run.",
    ),
]
ReportOption = Annotated[Path, typer.Option(dir_okay=False, help="Where the report goes.")]


def scenarios(  # noqa: PLR0913 - one per option
    context: typer.Context,
    names: NamesArgument = None,
    *,
    list_only: ListOption = False,
    stage: WhereOption = Stage.LOCAL,
    at_once: AtOnceOption = 1,
    keep: KeepOption = False,
    report: ReportOption = Path("scenarios-report.html"),
    function_role: RoleOption = "",
    as_json: JsonOption = False,
) -> None:
    """Run failure scenarios of a queue against real workers.

    Crashes, duplicates, poison, floods and outages, each with real worker processes on queues and
    tables of its own, which are removed afterwards. Ends with 0 if all passed, else with 1.
    """
    from switchyard_scenarios.errors import BadUsage
    from switchyard_scenarios.run import Wanted, listing, run

    if list_only:
        results().print("\n".join(listing()), soft_wrap=True)
        return
    wanted = Wanted(
        names=names or (),
        stage=stage.value,
        at_once=at_once,
        keep=keep,
        as_json=as_json,
        report=report,
        function_role=function_role,
    )
    try:
        cloud = services_of(context).cloud
        code = run(wanted, cloud, results_to=results(), notices_to=notices())
    except BadUsage as problem:
        raise BadInput(str(problem)) from problem
    raise typer.Exit(code)
