"""`metrics`: how a stage does, in numbers."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Final

import typer
from rich.console import Group

from cli.metric_views import StageMetrics, picture_of
from cli.operating import local_endpoint, operating
from cli.options import JsonOption
from cli.outside import outside_of
from cli.repeated import show_once, show_repeatedly
from cli.stages import Stage
from switchyard.domain.measuring.counts import MINUTE_MS
from switchyard.domain.measuring.measures import Measurement
from switchyard.usecases.measuring.measure import Measurer

TWO_DAYS: Final = 2 * 24 * 60  # so long the counters are kept

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
    typer.Option(
        min=1, max=TWO_DAYS, metavar="MINUTES", help="Over so long rates and costs are told."
    ),
]


def metrics(
    context: typer.Context,
    *,
    watch: WatchOption = False,
    window: WindowOption = 5,
    stage: MetricsStageOption = Stage.LOCAL,
    as_json: JsonOption = False,
) -> None:
    """Show how a stage does: what waits, what runs, who works, how fast, and at what cost.

    The numbers that CloudWatch has of a deployed stage, computed now from the state table and the
    queues; then what each definition spent. With `--watch` on a terminal they are redrawn in place;
    with `--json` each look is a line.
    """

    def look() -> Measurement:
        return measurer.measure(window_ms=window * MINUTE_MS)

    def view(measured: Measurement) -> StageMetrics:
        return StageMetrics.of(measured, stage)

    def picture(measured: Measurement) -> Group:
        return picture_of(measured, stage)

    with _measurer(context, stage) as measurer:
        if watch:
            clock = outside_of(context).clock
            show_repeatedly(look, as_json=as_json, view=view, picture=picture, clock=clock)
        else:
            show_once(look(), as_json=as_json, view=view, picture=picture)


@contextmanager
def _measurer(context: typer.Context, stage: Stage) -> Iterator[Measurer]:
    outside = outside_of(context)
    local = local_endpoint(stage, outside)
    with (
        operating(f"The numbers of the stage {stage} are"),
        outside.measurer(stage.value, local) as measurer,
    ):
        yield measurer
