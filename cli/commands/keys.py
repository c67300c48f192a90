"""`keys issue`: who may use a stage."""

from typing import Annotated

import typer

from cli.errors import BadInput, Unreachable
from cli.options import JsonOption
from cli.outside import Outside, outside_of
from cli.stages import Stage
from cli.terminal import notices, print_json
from cli.wording import sentence
from switchyard.contracts.wire import Wire
from switchyard.domain.errors import SwitchyardError
from switchyard.domain.ids import TENANT_ID

TenantArgument = Annotated[
    str,
    typer.Argument(help="Whose key it is: 1 to 63 of a-z, 0-9 and -. A new name is a new tenant."),
]
IssuingStageOption = Annotated[
    Stage,
    typer.Option(
        "--stage",
        help="Where the key is valid. Stages other than local take your AWS credentials, which "
        "must be allowed to write to the stage's state table.",
    ),
]


class IssuedKey(Wire):
    tenant: str
    stage: str
    key: str


def issue(
    context: typer.Context,
    tenant: TenantArgument,
    *,
    stage: IssuingStageOption = Stage.LOCAL,
    as_json: JsonOption = False,
) -> None:
    """Issue an API key and print it, this once: only its hash is kept.

    Tenants see none of each other's jobs and definitions.
    """
    if not TENANT_ID.fullmatch(tenant):
        raise BadInput(
            f"{tenant!r} cannot name a tenant: use 1 to 63 of a-z, 0-9 and -, without - in front."
        )
    key = _new_key(tenant, stage, outside_of(context))
    if as_json:
        print_json(IssuedKey(tenant=tenant, stage=stage, key=key))
    else:
        typer.echo(key)
    once = f"This key of the tenant {tenant} is not shown again."
    notices().print(once, style="dim", soft_wrap=True)


def _new_key(tenant: str, stage: Stage, outside: Outside) -> str:
    if stage is Stage.LOCAL:
        return outside.cloud.issue_key(tenant)
    try:
        return outside.new_deployed_key(tenant, stage.value)
    except SwitchyardError as error:
        raise Unreachable(
            f"No key could be issued for the stage {stage}: {sentence(error)} "
            "Is the stage deployed, and do your AWS credentials and region belong to it?"
        ) from error
