"""What looks at a deployed stage."""

from collections.abc import Collection, Iterator
from contextlib import contextmanager

from switchyard.adapters import aws
from switchyard.adapters.aws_inspection import AwsInspection
from switchyard.adapters.aws_time import function_clock
from switchyard.adapters.cloudformation import CloudFormationOutputs
from switchyard.adapters.dynamodb.presence import DynamoDbPresence
from switchyard.adapters.dynamodb.table import DynamoDbTable
from switchyard.bootstrap.operators import reached, stage_consumption, stage_keys
from switchyard.domain.health.consumption import Pause
from switchyard.domain.health.rollout import RolloutState
from switchyard.usecases.health.examine_stage import Examiner
from switchyard.usecases.health.watch_rollout import RolloutWatch


def stage_examiner(stage: str, *, option: str, **where: str) -> Examiner:
    """`where` is what the environment would else say of region, endpoint and credentials."""

    def paused() -> Pause | None:
        with stage_consumption(stage, **where) as consumption:
            return consumption.paused()

    def rollout() -> RolloutState:
        with stage_rollout(stage, **where) as watch:
            return watch.look()

    def tenants_with_keys() -> Collection[str]:
        with stage_keys(stage, **where) as ring:
            return {tenant for tenant, _ in ring.keys.everyones()}

    return Examiner(
        stage=stage,
        option=option,
        inspection=AwsInspection(stage, **where),
        paused=paused,
        rollout=rollout,
        tenants_with_keys=tenants_with_keys,
    )


@contextmanager
def stage_rollout(stage: str, **where: str) -> Iterator[RolloutWatch]:
    """Look at the workers of a stage; otherwise as with `stage_letters`."""
    with reached():
        outputs, shared = CloudFormationOutputs(**where), f"switchyard-{stage}-infrastructure"
        table = DynamoDbTable(aws.client("dynamodb", **where), outputs.of(shared, "StateTableName"))
        yield RolloutWatch(
            presence=DynamoDbPresence(table),
            current=AwsInspection(stage, **where).release,
            clock=function_clock(),
        )
