"""`pause` and `resume`: the brake for all workers of a stage."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Annotated, Final, Self

import typer

from cli.errors import BadInput
from cli.operating import local_endpoint, operating
from cli.options import JsonOption
from cli.outside import outside_of
from cli.stages import Stage
from cli.terminal import clean, notices, print_json, results
from switchyard.contracts.jobs import instant
from switchyard.contracts.wire import Written
from switchyard.domain.health.consumption import Pause
from switchyard.ports import Consumption

BrakeStageOption = Annotated[
    Stage,
    typer.Option(
        "--stage",
        help="Whose workers. Stages other than local take your AWS credentials, which must be "
        "allowed to use the stage's state table.",
    ),
]
ReasonOption = Annotated[str | None, typer.Option(help="Why, for whoever finds it paused.")]
MAX_REASON: Final = 200


class ConsumptionState(Written):
    stage: str
    paused: bool
    since: datetime | None = None
    reason: str | None = None

    @classmethod
    def of(cls, pause: Pause | None, stage: Stage) -> Self:
        if pause is None:
            return cls(stage=stage, paused=False)
        since = instant(pause.since_ms)
        return cls(stage=stage, paused=True, since=since, reason=pause.reason)


def pause(
    context: typer.Context,
    *,
    reason: ReasonOption = None,
    stage: BrakeStageOption = Stage.LOCAL,
    as_json: JsonOption = False,
) -> None:
    """Stop a stage's workers from taking tasks: a brake for incidents.

    Within half a minute none is begun any more; what runs, runs on. Jobs are still accepted, and
    wait. `resume` lets the workers go on.
    """
    if reason and len(reason) > MAX_REASON:
        raise BadInput(f"A reason has at most {MAX_REASON} characters.")
    asked = Pause(since_ms=outside_of(context).clock.now_ms(), reason=reason)
    with _consumption(context, stage) as consumption:
        found = consumption.pause(now_ms=asked.since_ms, reason=asked.reason)
    state = ConsumptionState.of(found, stage)
    if as_json:
        print_json(state)
        return
    why = f" ({clean(state.reason)})" if state.reason else ""
    results().print(f"Paused since {state.since:%Y-%m-%d %H:%M} UTC{why}.", soft_wrap=True)
    before = "" if found == asked else "It was paused already: that stays as it was. "
    hint = f"{before}Go on with `switchyard resume{stage.option}`."
    notices().print(hint, style="dim", soft_wrap=True)


def resume(
    context: typer.Context,
    *,
    stage: BrakeStageOption = Stage.LOCAL,
    as_json: JsonOption = False,
) -> None:
    """Let a stage's workers take tasks again, within ten seconds."""
    with _consumption(context, stage) as consumption:
        consumption.resume()
    if as_json:
        print_json(ConsumptionState.of(None, stage))
    else:
        results().print("Workers take tasks again.")


@contextmanager
def _consumption(context: typer.Context, stage: Stage) -> Iterator[Consumption]:
    outside = outside_of(context)
    local = local_endpoint(stage, outside)
    with (
        operating(f"The brake of the stage {stage} is"),
        outside.consumption(stage.value, local) as consumption,
    ):
        yield consumption
