"""What is done to a stage itself, not through its API: with one's own AWS credentials."""

from collections.abc import Iterator
from contextlib import contextmanager

from cli.errors import BadInput, Unreachable
from cli.outside import Outside
from cli.stages import Stage
from cli.wording import sentence
from local.endpoint import Endpoint
from switchyard.domain.errors import Rejected, SwitchyardError


def local_endpoint(stage: Stage, outside: Outside) -> Endpoint | None:
    """Where the local cloud is; of other stages the environment knows."""
    return outside.cloud.endpoint() if stage is Stage.LOCAL else None


@contextmanager
def operating(what: str) -> Iterator[None]:
    """`what` of a stage is used within the block."""
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
