"""`metrics`: how a stage does, in numbers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Final

import typer

from switchyard.domain.measuring.counts import MINUTE_MS
from switchyard_cli.connections.operators import local_endpoint, operating
from switchyard_cli.options import JsonOption
from switchyard_cli.services import services_of
from switchyard_cli.stages import Stage
from switchyard_cli.views.refresh import show_once, show_repeatedly

if TYPE_CHECKING:
    from rich.console import Group

    from switchyard.domain.measuring.measures import Measurement
    from switchyard.usecases.measuring.measure import Measurer

TWO_DAYS: Final = 2 * 24 * 60  # the counters are stored for as long

MetricsStageOption = Annotated[
    Stage,
    typer.Option(
        "--stage",
        help="Whose. Stages other than local take your AWS credentials, which must be allowed to "
        "read the stage's state table and the attributes of its queues.",
    ),
]
WatchOption = Annotated[bool, typer.Option("--watch", help="Look again and again, until Ctrl-C.")]
WindowOption = Annotated[
    int,
    typer.Option(min=1, max=TWO_DAYS, metavar="MINUTES", help="The period of the rates and costs."),
]


def metrics(
    context: typer.Context,
    *,
    watch: WatchOption = False,
    window: WindowOption = 5,
    stage: MetricsStageOption = Stage.LOCAL,
    as_json: JsonOption = False,
) -> None:
    """Show queue depth, workers, rates, durations and cost of a stage.

    The numbers that CloudWatch has of a deployed stage, computed now from the state table and the
    queues; then what each definition spent. With `--watch` on a terminal they are redrawn in place;
    with `--json` each look is a line.
    """
    from switchyard_cli.views.stage.metrics import StageMetrics, metrics_table

    def look() -> Measurement:
        return measurer.measure(window_ms=window * MINUTE_MS)

    def view(measured: Measurement) -> StageMetrics:
        return StageMetrics.of(measured, stage)

    def render(measured: Measurement) -> Group:
        return metrics_table(measured, stage)

    with _measurer(context, stage) as measurer:
        if watch:
            clock = services_of(context).clock
            show_repeatedly(look, as_json=as_json, view=view, render=render, clock=clock)
        else:
            show_once(look(), as_json=as_json, view=view, render=render)


@contextmanager
def _measurer(context: typer.Context, stage: Stage) -> Iterator[Measurer]:
    services = services_of(context)
    local = local_endpoint(stage, services)
    with (
        operating(f"The numbers of the stage {stage} are"),
        services.measurer(stage.value, local) as measurer,
    ):
        yield measurer
