"""`triggers apply`, `list`, `show`, `enable`, `disable`, `delete`: what starts jobs by itself."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from switchyard_cli.connections.trigger_operator import operator_of, tenants_triggers
from switchyard_cli.errors import BadInput
from switchyard_cli.options import JsonOption
from switchyard_cli.services import services_of
from switchyard_cli.stages import Stage
from switchyard_cli.terminal import confirmed, notices, print_json, results
from switchyard_cli.views.wording import counted

if TYPE_CHECKING:
    from switchyard.contracts.triggers import AppliedTrigger
    from switchyard.usecases.triggers.operate_triggers import TriggerOperator
    from switchyard_cli.files.trigger_file import SourcedTriggers
    from switchyard_cli.views.stage.triggers import TriggerView

OperatorStageOption = Annotated[
    Stage,
    typer.Option(
        "--stage",
        help="Where. Stages other than local take your AWS credentials, which must be allowed to "
        "use the stage's state table, its trigger queue and the account's EventBridge rules.",
    ),
]
TenantOption = Annotated[
    str | None, typer.Option(help="Whose. On the local cloud its own tenant's, unless you say.")
]
FileArgument = Annotated[
    Path, typer.Argument(help="Triggers in YAML or JSON. See examples/triggers.yaml.")
]
NameArgument = Annotated[str, typer.Argument(metavar="NAME", help="A trigger's name.")]
DryRunOption = Annotated[
    bool, typer.Option("--dry-run", help="Check the file and say what it holds; change nothing.")
]
YesOption = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]


def apply(
    context: typer.Context,
    file: FileArgument,
    *,
    tenant: TenantOption = None,
    dry_run: DryRunOption = False,
    stage: OperatorStageOption = Stage.LOCAL,
    as_json: JsonOption = False,
) -> None:
    """Register the definitions of a file, and add its triggers or change them.

    The whole file is checked first and every problem is listed with its line. A disabled trigger
    stays disabled, and other triggers stay as they are. A trigger whose tasks name a definition
    that is neither in the file nor registered is refused.
    """
    from switchyard_cli.actions.apply_triggers import apply_triggers, check_triggers, owners_of
    from switchyard_cli.files.trigger_file import read_triggers

    if dry_run:
        check = partial(check_triggers, context, stage, tenant)
        _show(read_triggers(file, tenant, also=check), file, as_json=as_json)
        return
    read = read_triggers(file, tenant)
    owners = owners_of(context, stage, tenant, read.content)
    with operator_of(context, stage) as operator:
        views = _views(context, operator, apply_triggers(operator, read, owners))
    _list(context, views, as_json=as_json)


def list_applied(
    context: typer.Context,
    *,
    tenant: TenantOption = None,
    stage: OperatorStageOption = Stage.LOCAL,
    as_json: JsonOption = False,
) -> None:
    """List a tenant's triggers with their last and next runs."""
    with tenants_triggers(context, stage, tenant) as (operator, owner):
        views = _views(context, operator, operator.all(owner))
    _list(context, views, as_json=as_json)


def show(
    context: typer.Context,
    name: NameArgument,
    *,
    tenant: TenantOption = None,
    stage: OperatorStageOption = Stage.LOCAL,
    as_json: JsonOption = False,
) -> None:
    """Show one whole, with its pattern and its job."""
    from switchyard_cli.views.stage.triggers import print_trigger

    with tenants_triggers(context, stage, tenant) as (operator, owner):
        (view,) = _views(context, operator, [operator.find(owner, name)])
    if as_json:
        print_json(view)
    else:
        print_trigger(view, results(), now_ms=services_of(context).clock.now_ms())


def delete(
    context: typer.Context,
    name: NameArgument,
    *,
    yes: YesOption = False,
    tenant: TenantOption = None,
    stage: OperatorStageOption = Stage.LOCAL,
    as_json: JsonOption = False,
) -> None:
    """Remove a trigger for good, after asking. Jobs that it has started go on."""
    with tenants_triggers(context, stage, tenant) as (operator, owner):
        (view,) = _views(context, operator, [operator.find(owner, name)])
        if not confirmed(f"Remove the trigger {name} of {owner}?", yes=yes):
            raise BadInput("Nothing was removed.")
        operator.remove(owner, name)
    if as_json:
        print_json(view)
    else:
        results().print(f"{name} is removed.")


def enable(
    context: typer.Context,
    name: NameArgument,
    *,
    tenant: TenantOption = None,
    stage: OperatorStageOption = Stage.LOCAL,
    as_json: JsonOption = False,
) -> None:
    """Let a trigger start jobs again, from the next event on."""
    _switch(context, name, tenant, stage, on=True, as_json=as_json)


def disable(
    context: typer.Context,
    name: NameArgument,
    *,
    tenant: TenantOption = None,
    stage: OperatorStageOption = Stage.LOCAL,
    as_json: JsonOption = False,
) -> None:
    """Let a trigger start nothing, until it is enabled. What comes meanwhile is dropped."""
    _switch(context, name, tenant, stage, on=False, as_json=as_json)


def _switch(
    context: typer.Context,
    name: str,
    tenant: str | None,
    stage: Stage,
    *,
    on: bool,
    as_json: bool,
) -> None:
    with tenants_triggers(context, stage, tenant) as (operator, owner):
        views = _views(context, operator, [operator.switch(owner, name, on=on)])
    _list(context, views, as_json=as_json)


def _views(
    context: typer.Context, operator: TriggerOperator, applied: Sequence[AppliedTrigger]
) -> list[TriggerView]:
    from switchyard_cli.views.stage.triggers import view_of

    now_ms = services_of(context).clock.now_ms()
    return [view_of(one, operator.rule_of(one), now_ms=now_ms) for one in applied]


def _list(context: typer.Context, views: list[TriggerView], *, as_json: bool) -> None:
    from switchyard_cli.views.stage.triggers import print_triggers

    if as_json:
        print_json([*views])
    else:
        print_triggers(views, results(), now_ms=services_of(context).clock.now_ms())


def _show(read: SourcedTriggers, file: Path, *, as_json: bool) -> None:
    from switchyard_cli.views.stage.triggers import starts

    if as_json:
        print_json([declared.trigger for declared in read.content.triggers])
        return
    for declared in read.content.triggers:
        results().print(f"{declared.name}: {starts(declared)}", soft_wrap=True)
    what = counted(len(read.content.triggers), "trigger")
    said = f"{file} is valid, with {what}; nothing was changed."
    notices().print(said, style="dim", soft_wrap=True)
