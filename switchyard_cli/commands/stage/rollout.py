"""`rollout`: which release each worker of a stage runs, and what a deployment waits for."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from switchyard_cli.connections.operators import local_endpoint, operating
from switchyard_cli.options import JsonOption
from switchyard_cli.services import services_of
from switchyard_cli.stages import Stage
from switchyard_cli.views.refresh import show_once, show_repeatedly

if TYPE_CHECKING:
    from rich.console import Group

    from switchyard.domain.health.rollout import RolloutState
    from switchyard.usecases.health.watch_rollout import RolloutWatch

RolloutStageOption = Annotated[
    Stage,
    typer.Option(
        "--stage",
        help="Whose workers. Stages other than local take your AWS credentials, which must be "
        "allowed to read the stage's state table and to describe its service.",
    ),
]
WatchOption = Annotated[bool, typer.Option("--watch", help="Look again and again, until Ctrl-C.")]


def rollout(
    context: typer.Context,
    *,
    watch: WatchOption = False,
    stage: RolloutStageOption = Stage.LOCAL,
    as_json: JsonOption = False,
) -> None:
    """Show which release each worker runs, and what a deployment waits for.

    Workers of an older release take no task once they have seen that they are replaced, within a
    minute; they finish what they run, and ECS stops them. With `--json` and `--watch` each look is
    a line.
    """
    from switchyard_cli.views.stage.rollout import RolloutView, rollout_table

    def view(state: RolloutState) -> RolloutView:
        return RolloutView.of(state, stage)

    def render(state: RolloutState) -> Group:
        return rollout_table(view(state))

    with _watch(context, stage) as found:
        if watch:
            clock = services_of(context).clock
            show_repeatedly(found.look, as_json=as_json, view=view, render=render, clock=clock)
        else:
            show_once(found.look(), as_json=as_json, view=view, render=render)


@contextmanager
def _watch(context: typer.Context, stage: Stage) -> Iterator[RolloutWatch]:
    services = services_of(context)
    local = local_endpoint(stage, services)
    with (
        operating(f"The workers of the stage {stage} are"),
        services.rollout(stage.value, local) as found,
    ):
        yield found
