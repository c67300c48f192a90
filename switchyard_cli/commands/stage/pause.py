"""`pause` and `resume`: stop and continue the consumption of all workers of a stage."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Final

import typer

from switchyard.domain.errors import Rejected
from switchyard.domain.health.presence import Pause
from switchyard.domain.scheduling.pauses import part_named
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
QueueOption = Annotated[
    str | None, typer.Option("--queue", metavar="QUEUE", help="Only the tasks of a queue.")
]
DefinitionOption = Annotated[
    str | None,
    typer.Option("--definition", metavar="NAME", help="Only the tasks of a definition."),
]
TenantOption = Annotated[
    str | None, typer.Option("--tenant", metavar="TENANT", help="Only the tasks of a tenant.")
]
MAX_REASON: Final = 200


def pause(
    context: typer.Context,
    *,
    reason: ReasonOption = None,
    queue: QueueOption = None,
    definition: DefinitionOption = None,
    tenant: TenantOption = None,
    stage: PauseStageOption = Stage.LOCAL,
    as_json: JsonOption = False,
) -> None:
    """Stop a stage's workers from claiming tasks.

    Within half a minute no task is started any more; running tasks go on. Jobs are still accepted
    and wait. `switchyard resume` lets the workers continue.
    """
    from switchyard_cli.views.stage.consumption import ConsumptionState

    part = _part(queue=queue, definition=definition, tenant=tenant)
    if part:
        if reason:
            raise BadInput("A reason is kept for a pause of the whole stage only.")
        with _pause_switch(context, stage) as pause_switch:
            pause_switch.pause_part(part)
            parts = pause_switch.paused_parts()
        _print_parts(parts, stage, as_json=as_json)
        return
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
    queue: QueueOption = None,
    definition: DefinitionOption = None,
    tenant: TenantOption = None,
    stage: PauseStageOption = Stage.LOCAL,
    as_json: JsonOption = False,
) -> None:
    """Let a stage's workers claim tasks again."""
    from switchyard_cli.views.stage.consumption import ConsumptionState

    part = _part(queue=queue, definition=definition, tenant=tenant)
    if part:
        with _pause_switch(context, stage) as pause_switch:
            pause_switch.resume_part(part)
            parts = pause_switch.paused_parts()
        _print_parts(parts, stage, as_json=as_json)
        return
    with _pause_switch(context, stage) as pause_switch:
        pause_switch.resume()
    if as_json:
        print_json(ConsumptionState.of(None, stage))
    else:
        results().print("Workers take tasks again.")


def _part(**named: str | None) -> str | None:
    """Return the part that is meant; `None` for the whole stage."""
    try:
        given = [part_named(kind, name) for kind, name in named.items() if name is not None]
    except Rejected as problem:
        raise BadInput(f"{problem}.") from problem
    if len(given) > 1:
        raise BadInput("Give one of --queue, --definition and --tenant at a time.")
    return given[0] if given else None


def _print_parts(parts: frozenset[str], stage: Stage, *, as_json: bool) -> None:
    from switchyard_cli.views.printed import PausedParts

    view = PausedParts(stage=stage.value, paused=tuple(sorted(parts)))
    if as_json:
        print_json(view)
    elif view.paused:
        paused = clean(", ".join(view.paused))
        results().print(f"Paused: {paused}.", soft_wrap=True)
        hint = "Tasks come back within a minute after `switchyard resume` with the same option."
        notices().print(hint, style="dim", soft_wrap=True)
    else:
        results().print("No queue, definition or tenant is paused.")


@contextmanager
def _pause_switch(context: typer.Context, stage: Stage) -> Iterator[PauseSwitch]:
    services = services_of(context)
    local = local_endpoint(stage, services)
    with (
        operating(f"The pause switch of the stage {stage} is"),
        services.pause_switch(stage.value, local) as pause_switch,
    ):
        yield pause_switch
