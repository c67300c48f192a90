"""Reach the resources of a stage directly, with the user's AWS credentials."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from switchyard.domain.errors import Rejected, SwitchyardError
from switchyard_cli.errors import BadInput, Unreachable
from switchyard_cli.stages import Stage
from switchyard_cli.views.wording import sentence

if TYPE_CHECKING:
    from switchyard_cli.services import Services
    from switchyard_local.endpoint import Endpoint


def local_endpoint(stage: Stage, services: Services) -> Endpoint | None:
    """Return the endpoint of the local cloud; `None` for a deployed stage."""
    return services.cloud.endpoint() if stage is Stage.LOCAL else None


@contextmanager
def operating(what: str) -> Iterator[None]:
    """Translate errors of the block, in which `what` of a stage is used."""
    try:
        yield
    except Rejected as error:
        said = sentence(error)
        raise BadInput(said[:1].upper() + said[1:]) from error
    except SwitchyardError as error:
        raise Unreachable(
            f"{what} out of reach: {sentence(error)} "
            "Is the stage deployed, and do your AWS credentials and region belong to it?"
        ) from error
