"""`pause` and `resume`: stop and continue the consumption of all workers of a stage."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Final

import typer

from switchyard.domain.health.presence import Pause
from switchyard_cli.connections.operators import local_endpoint, operating
from switchyard_cli.errors import BadInput
from switchyard_cli.options import JsonOption
from switchyard_cli.services import services_of
from switchyard_cli.stages import Stage
from switchyard_cli.terminal import clean, notices, print_json, results

if TYPE_CHECKING:
    from switchyard.ports import PauseSwitch

PauseStageOption = Annotated[
    Stage,
    typer.Option(
        "--stage",
        help="Whose workers. Stages other than local take your AWS credentials, which must be "
        "allowed to use the stage's state table.",
    ),
]
ReasonOption = Annotated[str | None, typer.Option(help="Why, for people who find it paused.")]
MAX_REASON: Final = 200


def pause(
    context: typer.Context,
    *,
    reason: ReasonOption = None,
    stage: PauseStageOption = Stage.LOCAL,
    as_json: JsonOption = False,
) -> None:
    """Stop a stage's workers from claiming tasks.

    Within half a minute no task is started any more; running tasks go on. Jobs are still accepted
    and wait. `switchyard resume` lets the workers continue.
    """
    from switchyard_cli.views.stage.consumption import ConsumptionState

    if reason and len(reason) > MAX_REASON:
        raise BadInput(f"A reason has at most {MAX_REASON} characters.")
    asked = Pause(since_ms=services_of(context).clock.now_ms(), reason=reason)
    with _pause_switch(context, stage) as pause_switch:
        found = pause_switch.pause(now_ms=asked.since_ms, reason=asked.reason)
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
    stage: PauseStageOption = Stage.LOCAL,
    as_json: JsonOption = False,
) -> None:
    """Let a stage's workers claim tasks again."""
    from switchyard_cli.views.stage.consumption import ConsumptionState

    with _pause_switch(context, stage) as pause_switch:
        pause_switch.resume()
    if as_json:
        print_json(ConsumptionState.of(None, stage))
    else:
        results().print("Workers take tasks again.")


@contextmanager
def _pause_switch(context: typer.Context, stage: Stage) -> Iterator[PauseSwitch]:
    services = services_of(context)
    local = local_endpoint(stage, services)
    with (
        operating(f"The pause switch of the stage {stage} is"),
        services.pause_switch(stage.value, local) as pause_switch,
    ):
        yield pause_switch
