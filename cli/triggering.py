"""How commands reach the triggers of a stage. Imports boto3 only once it is called."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager

import typer

from cli.errors import BadInput, Unreachable
from cli.outside import outside_of
from cli.stages import Stage
from cli.wording import sentence
from local.endpoint import Endpoint
from switchyard.domain.errors import Rejected, SwitchyardError
from switchyard.domain.ids import TENANT_ID
from switchyard.usecases.operate_triggers import TriggerOperator


def stage_operator(stage: str, local: Endpoint | None) -> AbstractContextManager[TriggerOperator]:
    from switchyard.bootstrap.triggers import stage_triggers  # noqa: PLC0415

    return stage_triggers(stage, **(local.connection if local else {}))


@contextmanager
def operator_of(context: typer.Context, stage: Stage) -> Iterator[TriggerOperator]:
    outside = outside_of(context)
    local = outside.cloud.endpoint() if stage is Stage.LOCAL else None
    try:
        with stage_operator(stage.value, local) as operator:
            yield operator
    except Rejected as error:
        said = sentence(error)
        raise BadInput(said[:1].upper() + said[1:]) from error
    except SwitchyardError as error:
        raise Unreachable(
            f"The triggers of the stage {stage} are out of reach: {sentence(error)} "
            "Is the stage deployed, and do your AWS credentials and region belong to it?"
        ) from error


def tenant_for(context: typer.Context, stage: Stage, given: str | None) -> str:
    """The local cloud has one of its own; elsewhere it has to be said."""
    if given is None and stage is Stage.LOCAL:
        return outside_of(context).cloud.endpoint().tenant
    if given is None:
        raise BadInput(f"Say whose triggers with --tenant: the stage {stage} may have many.")
    if not TENANT_ID.fullmatch(given):
        raise BadInput(
            f"{given!r} cannot name a tenant: use 1 to 63 of a-z, 0-9 and -, without - in front."
        )
    return given
