"""Wires how operators look at a stage: examination, rollouts, running tasks and metrics."""

import json
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager

from switchyard.adapters import aws
from switchyard.adapters.aws_inspection import AwsInspection
from switchyard.adapters.aws_time import function_clock
from switchyard.adapters.cloudformation import CloudFormationOutputs
from switchyard.adapters.dynamodb.presence import DynamoDbPresence
from switchyard.adapters.dynamodb.table import DynamoDbTable
from switchyard.bootstrap.health import measurer, task_checker
from switchyard.bootstrap.operators import reached, stage_keys, stage_pause_switch
from switchyard.bootstrap.stage_pools import deployed_pools, stage_pools
from switchyard.domain.health.health import HealthLimits
from switchyard.domain.health.presence import Pause
from switchyard.domain.health.rollout import RolloutState
from switchyard.settings import MeasureSettings
from switchyard.usecases.health.check_tasks import TaskChecker
from switchyard.usecases.health.examine_stage import Examiner
from switchyard.usecases.health.watch_rollout import RolloutWatch
from switchyard.usecases.measuring.measure import Measurer
from switchyard.usecases.scheduling.survey_pools import PoolState


def stage_examiner(stage: str, *, option: str, **where: str) -> Examiner:
    """`where` is what the environment would else say of region, endpoint and credentials."""

    def paused() -> Pause | None:
        with stage_pause_switch(stage, **where) as pause_switch:
            return pause_switch.paused()

    def rollout() -> RolloutState:
        with stage_rollout(stage, **where) as watch:
            return watch.look()

    def tenants_with_keys() -> Collection[str]:
        with stage_keys(stage, **where) as ring:
            return {tenant for tenant, _ in ring.keys.everyones()}

    def pools() -> Sequence[PoolState]:
        with stage_pools(stage, **where) as survey:
            return survey.survey()

    return Examiner(
        stage=stage,
        option=option,
        inspection=AwsInspection(stage, **where),
        paused=paused,
        rollout=rollout,
        tenants_with_keys=tenants_with_keys,
        pools=pools,
    )


@contextmanager
def stage_rollout(stage: str, **where: str) -> Iterator[RolloutWatch]:
    """Look at the workers of a stage; otherwise as with `stage_parked_messages`."""
    with reached():
        outputs, shared = CloudFormationOutputs(**where), f"switchyard-{stage}-infrastructure"
        table = DynamoDbTable(aws.client("dynamodb", **where), outputs.of(shared, "StateTableName"))
        yield RolloutWatch(
            presence=DynamoDbPresence(table),
            current=AwsInspection(stage, **where).release,
            clock=function_clock(),
        )


@contextmanager
def stage_checker(stage: str, **where: str) -> Iterator[TaskChecker]:
    """Yield what checks running tasks by the stage's limits; see `stage_parked_messages`."""
    with reached():
        outputs = CloudFormationOutputs(**where)
        shared = f"switchyard-{stage}-infrastructure"
        limits = outputs.of(f"switchyard-{stage}-health-check", "HealthLimits")
        yield task_checker(
            aws.client("dynamodb", **where),
            state=outputs.of(shared, "StateTableName"),
            definitions=outputs.of(shared, "TaskDefinitionsTableName"),
            limits=HealthLimits(**json.loads(limits)),
            pools=deployed_pools(stage, **where),
        )


@contextmanager
def stage_measurer(stage: str, **where: str) -> Iterator[Measurer]:
    """Yield what measures a stage; see `stage_parked_messages`."""
    with reached():
        outputs, shared = CloudFormationOutputs(**where), f"switchyard-{stage}-infrastructure"
        settings = MeasureSettings(
            stage=stage,
            state_table_name=outputs.of(shared, "StateTableName"),
            sqs_queue_url=outputs.of(shared, "TaskQueueUrl"),
            dead_letter_queue_urls=",".join(AwsInspection(stage, **where).dead_letter_queues()),
            pools=deployed_pools(stage, **where),
        )
        yield measurer(settings, **where)
