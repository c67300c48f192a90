"""`metrics`: how a stage does, in numbers."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated, Final

import typer
from rich.console import Console
from rich.live import Live

from cli.metric_views import StageMetrics, picture_of
from cli.operating import local_endpoint, operating
from cli.options import JsonOption
from cli.outside import outside_of
from cli.stages import Stage
from cli.terminal import print_json, print_json_line, results
from switchyard.domain.measuring.counts import MINUTE_MS
from switchyard.domain.measuring.measures import Measurement
from switchyard.ports import Clock
from switchyard.usecases.measuring.measure import Measurer

SECONDS_BETWEEN_LOOKS: Final = 5.0
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

Look = Callable[[], Measurement]
Show = Callable[[Measurement], None]


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

    with _measurer(context, stage) as measurer:
        if watch:
            _watch(look, stage, as_json=as_json, clock=outside_of(context).clock)
        elif as_json:
            print_json(StageMetrics.of(look(), stage))
        else:
            results().print(picture_of(look(), stage))


def _watch(look: Look, stage: Stage, *, as_json: bool, clock: Clock) -> None:
    try:
        with _display(results(), stage, as_json=as_json) as show:
            while True:
                show(look())
                clock.sleep(SECONDS_BETWEEN_LOOKS)
    except KeyboardInterrupt:
        return  # there is no other end


@contextmanager
def _display(console: Console, stage: Stage, *, as_json: bool) -> Iterator[Show]:
    if as_json:
        yield lambda measured: print_json_line(StageMetrics.of(measured, stage))
    elif console.is_terminal:
        with Live(console=console, auto_refresh=False) as live:
            yield lambda measured: live.update(picture_of(measured, stage), refresh=True)
    else:
        yield lambda measured: console.print(picture_of(measured, stage), end="\n\n")


@contextmanager
def _measurer(context: typer.Context, stage: Stage) -> Iterator[Measurer]:
    outside = outside_of(context)
    local = local_endpoint(stage, outside)
    with (
        operating(f"The numbers of the stage {stage} are"),
        outside.measurer(stage.value, local) as measurer,
    ):
        yield measurer
