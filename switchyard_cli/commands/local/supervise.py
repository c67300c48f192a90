"""`supervise`: as many workers on this machine as the backlog calls for."""

from typing import Annotated

import typer

from switchyard.domain.measuring.scaling import USUAL_SCALING, ScalingPolicy
from switchyard_cli.commands.local.cloud import saying
from switchyard_cli.errors import BadInput
from switchyard_cli.services import services_of
from switchyard_cli.terminal import notices, results


def supervise(
    context: typer.Context,
    *,
    least: Annotated[
        int, typer.Option("--min", min=1, help="So many workers stay, whatever the backlog.")
    ] = 1,
    most: Annotated[int, typer.Option("--max", min=1, help="There are never more.")] = (
        USUAL_SCALING.max_workers
    ),
    target: Annotated[
        int, typer.Option(min=1, help="How many messages, waiting or in flight, call for a worker.")
    ] = USUAL_SCALING.target_per_worker,
    out_cooldown: Annotated[
        float, typer.Option(min=0, help="Seconds until more workers come after some came.")
    ] = USUAL_SCALING.scale_out_cooldown_seconds,
    in_after: Annotated[
        float, typer.Option(min=0, help="Seconds of needing fewer until idle workers stop.")
    ] = USUAL_SCALING.scale_in_after_seconds,
) -> None:
    """Start and stop workers of the local cloud with its backlog, until Ctrl-C.

    By the policy that scales the workers of a deployed stage. A worker that ends by itself is
    replaced. In the end all but the first finish or hand back their tasks, and stop.
    """
    if least > most:
        raise BadInput(f"There cannot be at least {least} and at most {most} workers.")
    policy = ScalingPolicy(
        min_workers=least,
        max_workers=most,
        target_per_worker=target,
        scale_out_cooldown_seconds=out_cooldown,
        scale_in_after_seconds=in_after,
    )
    share = f"one for {target} messages, and enough for those in flight"
    notices().print(f"Between {least} and {most} workers: {share}. End: Ctrl-C", soft_wrap=True)
    services_of(context).cloud.supervise(policy, saying(results()))
