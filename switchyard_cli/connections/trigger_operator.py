"""Reach the triggers of a stage and find their tenant."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import typer

from switchyard.domain.ids import TENANT_ID, TENANT_ID_RULE
from switchyard.domain.text import did_you_mean
from switchyard.domain.triggers.triggers import UnknownTrigger
from switchyard_cli.connections.operators import local_endpoint, operating
from switchyard_cli.errors import BadInput
from switchyard_cli.services import services_of
from switchyard_cli.stages import Stage

if TYPE_CHECKING:
    from switchyard.usecases.triggers.operate_triggers import TriggerOperator


@contextmanager
def operator_of(context: typer.Context, stage: Stage) -> Iterator[TriggerOperator]:
    services = services_of(context)
    local = local_endpoint(stage, services)
    with (
        operating(f"The triggers of the stage {stage} are"),
        services.triggers(stage.value, local) as operator,
    ):
        yield operator


@contextmanager
def tenants_triggers(
    context: typer.Context, stage: Stage, tenant: str | None
) -> Iterator[tuple[TriggerOperator, str]]:
    """Yield what changes the triggers of a stage, and the tenant whose triggers are meant."""
    owner = tenant_for(context, stage, tenant)
    with operator_of(context, stage) as operator:
        try:
            yield operator, owner
        except UnknownTrigger as error:
            known = [applied.trigger.name for applied in operator.all(owner)]
            hint = did_you_mean(error.name, known)
            if not hint:
                raise
            raise BadInput(f"The tenant {owner} has no trigger {error.name!r}{hint}") from error


def tenant_for(context: typer.Context, stage: Stage, given: str | None) -> str:
    """The local cloud has one of its own; elsewhere it has to be said."""
    if given is None and stage is Stage.LOCAL:
        return services_of(context).cloud.endpoint().tenant
    if given is None:
        raise BadInput(f"Name the tenant with --tenant: the stage {stage} may have many.")
    if not TENANT_ID.fullmatch(given):
        raise BadInput(f"{given!r} cannot name a tenant: use {TENANT_ID_RULE}.")
    return given
