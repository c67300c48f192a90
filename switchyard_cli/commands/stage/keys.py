"""`keys issue`, `list`, `revoke`, `move`: who may use a stage."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import TYPE_CHECKING, Annotated

import typer

from switchyard.domain.ids import TENANT_ID, TENANT_ID_RULE
from switchyard_cli.connections.operators import local_endpoint, operating
from switchyard_cli.errors import BadInput
from switchyard_cli.options import JsonOption
from switchyard_cli.services import services_of
from switchyard_cli.stages import Stage
from switchyard_cli.terminal import notices, print_json, results
from switchyard_cli.views.tables import cut_to_fit, table_of

if TYPE_CHECKING:
    from rich.console import Console

    from switchyard.usecases.access.api_keys import KeyRing
    from switchyard_cli.views.printed import ListedKey, MovedKey

TenantArgument = Annotated[str, typer.Argument(metavar="TENANT", help=f"Whose: {TENANT_ID_RULE}.")]
NewTenantArgument = Annotated[
    str,
    typer.Argument(
        metavar="TENANT",
        help=f"Whose key it is: {TENANT_ID_RULE}. A new name is a new tenant.",
    ),
]
KeyArgument = Annotated[
    str, typer.Argument(metavar="ID", help="The key's id, as `keys list` shows it.")
]
NameOption = Annotated[
    str | None, typer.Option("--name", help="What to call it in lists: who or what uses it.")
]
KeepOption = Annotated[
    bool,
    typer.Option(
        "--keep",
        help="Copy and leave the keys in the state table too, where only older releases look.",
    ),
]
BackOption = Annotated[
    bool,
    typer.Option(
        "--back",
        help="Copy all keys to the state table instead, before a release that only looks there.",
    ),
]
KeyStageOption = Annotated[
    Stage,
    typer.Option(
        "--stage",
        help="Where the key is valid. Stages other than local take your AWS credentials, which "
        "must be allowed to use the stage's table of API keys.",
    ),
]


def issue(
    context: typer.Context,
    tenant: NewTenantArgument,
    *,
    name: NameOption = None,
    stage: KeyStageOption = Stage.LOCAL,
    as_json: JsonOption = False,
) -> None:
    """Issue an API key and print it, this once: only its hash is stored.

    Tenants see none of each other's jobs and definitions.
    """
    from switchyard_cli.views.printed import IssuedKey

    with _keys(context, tenant, stage) as keys:
        key = keys.issue(tenant, label=name)
    if as_json:
        print_json(IssuedKey(tenant=tenant, stage=stage, key=key))
    else:
        typer.echo(key)
    once = f"This key of the tenant {tenant} is not shown again."
    notices().print(once, style="dim", soft_wrap=True)


def list_issued(
    context: typer.Context,
    tenant: TenantArgument,
    *,
    stage: KeyStageOption = Stage.LOCAL,
    as_json: JsonOption = False,
) -> None:
    """List a tenant's keys, the oldest first, revoked ones too; none of them is shown."""
    from switchyard_cli.views.printed import ListedKey

    with _keys(context, tenant, stage) as keys:
        found = [ListedKey.of(key) for key in keys.all(tenant)]
    if as_json:
        print_json([*found])
    else:
        _print_keys(found, results())


def revoke(
    context: typer.Context,
    tenant: TenantArgument,
    key: KeyArgument,
    *,
    stage: KeyStageOption = Stage.LOCAL,
    as_json: JsonOption = False,
) -> None:
    """Revoke a key for good. It may open the API for a minute more, and stays listed."""
    from switchyard_cli.views.printed import ListedKey

    with _keys(context, tenant, stage) as keys:
        revoked = ListedKey.of(keys.revoke(tenant, key))
    if as_json:
        print_json(revoked)
    else:
        results().print(f"Within a minute the key {revoked.id} of {tenant} opens nothing any more.")


def move(
    context: typer.Context,
    *,
    keep: KeepOption = False,
    back: BackOption = False,
    stage: KeyStageOption = Stage.LOCAL,
    as_json: JsonOption = False,
) -> None:
    """Move the keys of a stage that is older than the table of API keys into that table.

    It reads the whole state table, names every key, and may be repeated. A key that you do not
    know may have been written by someone else: revoke it.
    """
    from switchyard_cli.views.printed import MovedKey

    if keep and back:
        raise BadInput("--back always copies: leave --keep out.")
    services = services_of(context)
    local = local_endpoint(stage, services)
    with (
        operating(f"The keys of the stage {stage} are"),
        services.key_move(stage.value, local) as keys,
    ):
        moved = [
            MovedKey.of(tenant, key)
            for tenant, key in (keys.copy_back() if back else keys.move(keep=keep))
        ]
    if as_json:
        print_json([*moved])
    else:
        _print_moved(moved, results(), "copied" if keep or back else "moved")


@contextmanager
def _keys(context: typer.Context, tenant: str, stage: Stage) -> Iterator[KeyRing]:
    if not TENANT_ID.fullmatch(tenant):
        raise BadInput(f"{tenant!r} cannot name a tenant: use {TENANT_ID_RULE}.")
    services = services_of(context)
    local = local_endpoint(stage, services)
    with (
        operating(f"The keys of the stage {stage} are"),
        services.api_keys(stage.value, local) as keys,
    ):
        yield keys


def _print_keys(found: Sequence[ListedKey], console: Console) -> None:
    if not found:
        console.print("No keys.")
        return
    table = table_of("id", "created", "last used", "revoked", giving_way="name")
    for key in found:
        times = (_day(key.created_at), key.last_used_on or "never", _day(key.revoked_at))
        table.add_row(key.id, *times, cut_to_fit(key.name or ""))
    console.print(table)


def _print_moved(moved: Sequence[MovedKey], console: Console, done: str) -> None:
    if moved:
        table = table_of("tenant", "id", "created", giving_way="name")
        for key in moved:
            table.add_row(key.tenant, key.id, _day(key.created_at), cut_to_fit(key.name or ""))
        console.print(table)
    count = f"{len(moved)} keys were" if len(moved) != 1 else "1 key was"
    console.print(f"{count} {done}.")


def _day(moment: datetime | None) -> str:
    return moment.date().isoformat() if moment else ""
