"""`health`: how the tasks are that a stage is processing."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Final

import typer

from switchyard.domain.health.health import Health, HealthReport
from switchyard_cli.connections.operators import local_endpoint, operating
from switchyard_cli.errors import SOMETHING_IS_WRONG, BadInput
from switchyard_cli.options import JsonOption
from switchyard_cli.services import services_of
from switchyard_cli.stages import Stage
from switchyard_cli.terminal import clean, print_json, results
from switchyard_cli.views.tables import cut_to_fit, table_of
from switchyard_cli.views.wording import counted, duration

if TYPE_CHECKING:
    from rich.console import Console


HealthStageOption = Annotated[
    Stage,
    typer.Option(
        "--stage",
        help="Whose tasks. Stages other than local take your AWS credentials, which must be "
        "allowed to read the stage's tables.",
    ),
]
OneTaskArgument = Annotated[
    str | None, typer.Argument(metavar="TASK", help="One task's request id: job-…__task")
]

STYLES: Final = {
    Health.HEALTHY: "green",
    Health.WARNING: "yellow",
    Health.NOT_PROGRESSING: "bold yellow",
    Health.OVERTIME: "bold red",
    Health.CRITICAL: "bold red",
}


def health(
    context: typer.Context,
    task: OneTaskArgument = None,
    *,
    stage: HealthStageOption = Stage.LOCAL,
    as_json: JsonOption = False,
) -> None:
    """Check the running tasks; exit 1 if one is stuck, late or makes no progress.

    Exits with 1 as well while tasks wait for code that no worker serves.

    The worst come first: when each gave its last sign of life, for how long it has been running,
    who runs it, and why that is or is not well. Nothing is changed and no alert is posted.
    """
    from switchyard.contracts.health import StageHealth

    report = _report(context, stage)
    if task is not None:
        report = _of_one(report, task)
    if as_json:
        print_json(StageHealth.of(report))
    else:
        _print_report(report, results())
    if report.alarming:
        raise typer.Exit(SOMETHING_IS_WRONG)


def _report(context: typer.Context, stage: Stage) -> HealthReport:
    services = services_of(context)
    local = local_endpoint(stage, services)
    with (
        operating(f"The tasks of the stage {stage} are"),
        services.checker(stage.value, local) as checker,
    ):
        return checker.check()


def _of_one(report: HealthReport, request_id: str) -> HealthReport:
    found = tuple(task for task in report.tasks if task.ref.request_id == request_id)
    if not found:
        raise BadInput(f"No task {request_id!r} is being processed.")
    return replace(report, tasks=found, unserved=(), unserved_groups=())


def _print_report(report: HealthReport, console: Console) -> None:
    from rich.text import Text

    for unserved in report.unserved:
        waiting = f"{counted(unserved.tasks, 'task')} for up to {_minutes(unserved.waiting_ms)}"
        line = f"No worker serves {unserved.code}: waiting, {waiting}."
        console.print(clean(line), style="bold red", soft_wrap=True)
    for group in report.unserved_groups:
        waiting = f"{counted(group.tasks, 'task')} for up to {_minutes(group.waiting_ms)}"
        line = f"No pool serves the group {group.group}: waiting, {waiting}."
        console.print(clean(line), style="bold red", soft_wrap=True)
    if not report.tasks:
        console.print("No task is being processed.")
        return
    table = table_of("health", "task", "runs for", "last sign", "worker", giving_way="why")
    for task in report.tasks:
        table.add_row(
            Text(_spoken(task.health), style=STYLES[task.health]),
            clean(task.ref.request_id),
            _minutes(task.elapsed_ms),
            f"{_minutes(task.silent_ms)} ago",
            clean(task.worker_id),
            cut_to_fit(task.reason),
        )
    console.print(table)
    console.print(_summary(report), soft_wrap=True)


def _summary(report: HealthReport) -> str:
    counts = [(len(report.of(found)), _spoken(found)) for found in reversed(Health)]
    reported = ", ".join(f"{count} {word}" for count, word in counts if count)
    number = len(report.tasks)
    return (
        f"{counted(number, 'task')} {'is' if number == 1 else 'are'} being processed: {reported}."
    )


def _spoken(health: Health) -> str:
    return health.value.replace("_", " ")


def _minutes(milliseconds: int) -> str:
    return duration(milliseconds / 1000)
