"""`pools`, `pools show`, `subscribe`, `unsubscribe`: the pools of a stage's workers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Final

import typer

from switchyard_cli.connections.operators import local_endpoint, operating
from switchyard_cli.errors import BadInput
from switchyard_cli.options import JsonOption
from switchyard_cli.services import services_of
from switchyard_cli.stages import Stage
from switchyard_cli.terminal import notices, print_json, results

if TYPE_CHECKING:
    from switchyard.domain.scheduling.pools import Subscription
    from switchyard.usecases.scheduling.survey_pools import PoolState, PoolSurvey

FOLLOWED: Final = "Its workers, and the functions that send tasks, follow within some seconds."
PoolStageOption = Annotated[
    Stage,
    typer.Option(
        "--stage",
        help="Where. Stages other than local take your AWS credentials, which must be allowed to "
        "use the stage's state table and queues.",
    ),
]
PoolArgument = Annotated[str, typer.Argument(metavar="POOL", help="The name of a pool.")]
GroupArgument = Annotated[
    str, typer.Argument(metavar="GROUP", help="The group of work queues: their name before `/`.")
]
WeightOption = Annotated[
    int,
    typer.Option(min=1, max=100, help="Its share, where the pool's policy is `weighted`."),
]


def all_pools(
    context: typer.Context,
    *,
    stage: PoolStageOption = Stage.LOCAL,
    as_json: JsonOption = False,
) -> None:
    """List the pools of workers, and change what they serve.

    Shows who works in each pool, how busy they are, which groups it serves and what waits.
    """
    if context.invoked_subcommand:
        return
    from switchyard_cli.views.stage.pools import PoolView, pools_table

    states = _survey(context, stage)
    if as_json:
        print_json([PoolView.of(state) for state in states])
    else:
        results().print(pools_table(states))


def show(
    context: typer.Context,
    pool: PoolArgument,
    *,
    stage: PoolStageOption = Stage.LOCAL,
    as_json: JsonOption = False,
) -> None:
    """Show one pool with its limits and its workers."""
    from switchyard_cli.views.stage.pools import PoolView, pool_details

    states = _survey(context, stage)
    found = next((state for state in states if state.pool.name == pool), None)
    if found is None:
        known = ", ".join(state.pool.name for state in states)
        raise BadInput(f"There is no pool '{pool}'. The pools of the stage {stage} are {known}.")
    if as_json:
        print_json(PoolView.of(found))
    else:
        results().print(pool_details(found))


def subscribe(
    context: typer.Context,
    pool: PoolArgument,
    group: GroupArgument,
    *,
    weight: WeightOption = 1,
    stage: PoolStageOption = Stage.LOCAL,
) -> None:
    """Let a pool serve a group, while it runs."""
    from switchyard.domain.scheduling.pools import Subscription

    try:
        wanted = Subscription(group, weight)
    except ValueError as problem:
        raise BadInput(f"{str(problem).capitalize()}.") from problem
    with _pools(context, stage) as survey:
        now = survey.directory.subscribe(pool, wanted)
    _print_served(pool, now)


def unsubscribe(
    context: typer.Context,
    pool: PoolArgument,
    group: GroupArgument,
    *,
    stage: PoolStageOption = Stage.LOCAL,
) -> None:
    """Let a pool serve a group no longer. Tasks that it runs already go on."""
    with _pools(context, stage) as survey:
        now = survey.directory.unsubscribe(pool, group)
        left = survey.directory.serving(group)
    _print_served(pool, now)
    if not left:
        warning = f"No pool serves the group {group} now: its tasks wait until one does."
        notices().print(warning, style="yellow", soft_wrap=True)


def _print_served(pool: str, now: Sequence[Subscription]) -> None:
    served = ", ".join(map(str, now)) or "no group"
    results().print(f"The pool {pool} serves {served}.", soft_wrap=True)
    notices().print(FOLLOWED, style="dim", soft_wrap=True)


def _survey(context: typer.Context, stage: Stage) -> Sequence[PoolState]:
    with _pools(context, stage) as survey:
        return survey.survey()


@contextmanager
def _pools(context: typer.Context, stage: Stage) -> Iterator[PoolSurvey]:
    services = services_of(context)
    local = local_endpoint(stage, services)
    with (
        operating(f"The pools of the stage {stage} are"),
        services.pools(stage.value, local) as survey,
    ):
        yield survey
