"""How commands reach the triggers of a stage, and whose they are."""

from collections.abc import Iterator
from contextlib import contextmanager

import typer

from cli.errors import BadInput
from cli.operating import local_endpoint, operating
from cli.outside import outside_of
from cli.stages import Stage
from switchyard.domain.ids import TENANT_ID, TENANT_ID_RULE
from switchyard.usecases.triggers.operate_triggers import TriggerOperator


@contextmanager
def operator_of(context: typer.Context, stage: Stage) -> Iterator[TriggerOperator]:
    outside = outside_of(context)
    local = local_endpoint(stage, outside)
    with (
        operating(f"The triggers of the stage {stage} are"),
        outside.triggers(stage.value, local) as operator,
    ):
        yield operator


def tenant_for(context: typer.Context, stage: Stage, given: str | None) -> str:
    """The local cloud has one of its own; elsewhere it has to be said."""
    if given is None and stage is Stage.LOCAL:
        return outside_of(context).cloud.endpoint().tenant
    if given is None:
        raise BadInput(f"Say whose triggers with --tenant: the stage {stage} may have many.")
    if not TENANT_ID.fullmatch(given):
        raise BadInput(f"{given!r} cannot name a tenant: use {TENANT_ID_RULE}.")
    return given
