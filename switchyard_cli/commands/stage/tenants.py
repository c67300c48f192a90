"""`tenants show`, `set`, `list`: what operators allow each tenant."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from switchyard.domain.ids import TENANT_ID_RULE
from switchyard.domain.scheduling.ready import DEFAULT_QUEUE
from switchyard_cli.connections.operators import local_endpoint, operating
from switchyard_cli.errors import BadInput
from switchyard_cli.options import JsonOption
from switchyard_cli.services import services_of
from switchyard_cli.stages import Stage
from switchyard_cli.terminal import print_json, results
from switchyard_cli.views.tables import cut_to_fit, table_of

if TYPE_CHECKING:
    from switchyard.usecases.access.tenants import TenantOperator
    from switchyard_cli.views.printed import TenantView

TenantArgument = Annotated[str, typer.Argument(metavar="TENANT", help=f"Which: {TENANT_ID_RULE}.")]
TenantStageOption = Annotated[
    Stage,
    typer.Option(
        "--stage",
        help="Where. Stages other than local take your AWS credentials, which must be allowed to "
        "use the stage's state table.",
    ),
]
ChannelOption = Annotated[
    list[str] | None,
    typer.Option(
        "--channel",
        metavar="CHANNEL",
        help="A Slack channel that the tenant's jobs may name, as they name it: #name or its id. "
        "Repeat it for more; together they replace the list. '*' is every channel of the bot.",
    ),
]
OperatorOption = Annotated[
    list[str] | None,
    typer.Option(
        "--operator",
        metavar="USER",
        help="The id of a Slack user who may press buttons on the tenant's incidents, like "
        "U0123456789. Repeat it for more; together they replace the list.",
    ),
]
ClearChannelsOption = Annotated[
    bool, typer.Option("--clear-channels", help="The tenant's jobs may name no channel.")
]
ClearOperatorsOption = Annotated[
    bool, typer.Option("--clear-operators", help="Only the stage's operators may press buttons.")
]


WeightArgument = Annotated[
    float,
    typer.Argument(
        metavar="WEIGHT",
        help="From 0.01 to 100; 1 if none is set. While both have work waiting, a tenant with 2 "
        "spends twice as much as one with 1.",
    ),
]
GroupOption = Annotated[
    str,
    typer.Option("--group", metavar="GROUP", help="The group of queues that the weight is for."),
]


def show(
    context: typer.Context,
    tenant: TenantArgument,
    *,
    group: GroupOption = DEFAULT_QUEUE,
    stage: TenantStageOption = Stage.LOCAL,
    as_json: JsonOption = False,
) -> None:
    """Show what operators have set for a tenant."""
    from switchyard_cli.views.printed import TenantView

    with _tenants(context, stage) as tenants:
        weights = tenants.weights(group)
        found = TenantView.of(tenant, tenants.find(tenant), weight=weights[tenant])
    _print_one(found, as_json=as_json)


def change(
    context: typer.Context,
    tenant: TenantArgument,
    *,
    channel: ChannelOption = None,
    clear_channels: ClearChannelsOption = False,
    operator: OperatorOption = None,
    clear_operators: ClearOperatorsOption = False,
    stage: TenantStageOption = Stage.LOCAL,
    as_json: JsonOption = False,
) -> None:
    """Set which Slack channels a tenant's jobs may name, and who may press its buttons.

    What is not given stays as it is.
    """
    from switchyard_cli.views.printed import TenantView

    channels = _wanted(channel, "channel", clear=clear_channels)
    operators = _wanted(operator, "operator", clear=clear_operators)
    if channels is None and operators is None:
        raise BadInput(
            "Nothing was given to set: use --channel, --clear-channels, --operator or "
            "--clear-operators."
        )
    with _tenants(context, stage) as tenants:
        changed = tenants.change(tenant, slack_channels=channels, slack_operators=operators)
        view = TenantView.of(tenant, changed, weight=tenants.weights(DEFAULT_QUEUE)[tenant])
    _print_one(view, as_json=as_json)


def weigh(
    context: typer.Context,
    tenant: TenantArgument,
    weight: WeightArgument,
    *,
    group: GroupOption = DEFAULT_QUEUE,
    stage: TenantStageOption = Stage.LOCAL,
    as_json: JsonOption = False,
) -> None:
    """Set a tenant's share of the workers."""
    from switchyard_cli.views.printed import TenantView

    with _tenants(context, stage) as tenants:
        tenants.weigh(tenant, group, weight)
        settings = tenants.find(tenant)
    _print_one(TenantView.of(tenant, settings, weight=weight), as_json=as_json)


def list_set(
    context: typer.Context,
    *,
    stage: TenantStageOption = Stage.LOCAL,
    as_json: JsonOption = False,
) -> None:
    """List the tenants that operators have set something for."""
    from switchyard_cli.views.printed import TenantView

    with _tenants(context, stage) as tenants:
        weights = tenants.weights(DEFAULT_QUEUE)
        found = [
            TenantView.of(tenant, settings, weight=weights[tenant])
            for tenant, settings in tenants.all().items()
        ]
    if as_json:
        print_json([*found])
    elif not found:
        results().print("Nothing is set for any tenant.")
    else:
        table = table_of("tenant", "channels", giving_way="operators")
        for one in found:
            channels = ", ".join(one.slack_channels) or "none"
            table.add_row(one.tenant, channels, cut_to_fit(", ".join(one.slack_operators)))
        results().print(table)


def _wanted(given: list[str] | None, name: str, *, clear: bool) -> tuple[str, ...] | None:
    if clear and given:
        raise BadInput(f"Give either --{name} or --clear-{name}s.")
    return () if clear else tuple(given) if given else None


@contextmanager
def _tenants(context: typer.Context, stage: Stage) -> Iterator[TenantOperator]:
    services = services_of(context)
    local = local_endpoint(stage, services)
    with (
        operating(f"The tenants of the stage {stage} are"),
        services.tenants(stage.value, local) as tenants,
    ):
        yield tenants


def _print_one(view: TenantView, *, as_json: bool) -> None:
    if as_json:
        print_json(view)
        return
    console = results()
    channels = ", ".join(view.slack_channels) or "none: its jobs may name no channel"
    operators = ", ".join(view.slack_operators) or "none: only the stage's operators press buttons"
    console.print(f"{view.tenant}", soft_wrap=True)
    console.print(f"  Weight           {view.weight:g}", soft_wrap=True, markup=False)
    console.print(f"  Slack channels   {channels}", soft_wrap=True, markup=False)
    console.print(f"  Slack operators  {operators}", soft_wrap=True, markup=False)
