"""Wires how operators look at the pools of a stage, and change their subscriptions."""

from collections.abc import Iterator
from contextlib import contextmanager

from pydantic import TypeAdapter

from switchyard.adapters import aws
from switchyard.adapters.aws_time import function_clock
from switchyard.adapters.cloudformation import CloudFormationOutputs
from switchyard.adapters.dynamodb.table import DynamoDbTable
from switchyard.bootstrap.operators import function_variables, reached
from switchyard.bootstrap.pools import pool_survey
from switchyard.domain.errors import Rejected
from switchyard.domain.scheduling.pools import DeployedPool
from switchyard.usecases.scheduling.survey_pools import PoolSurvey


def deployed_pools(stage: str, **where: str) -> tuple[DeployedPool, ...]:
    """Read the pools from the dispatcher's environment; none if an older version is deployed."""
    name = f"switchyard-{stage}-dispatch"
    variables = function_variables([name], **where)[name]
    return TypeAdapter(tuple[DeployedPool, ...]).validate_json(variables.get("POOLS", "[]"))


@contextmanager
def stage_pools(stage: str, **where: str) -> Iterator[PoolSurvey]:
    """Yield what surveys and changes the pools of a stage; see `stage_parked_messages`."""
    with reached():
        outputs, shared = CloudFormationOutputs(**where), f"switchyard-{stage}-infrastructure"
        state = DynamoDbTable(aws.client("dynamodb", **where), outputs.of(shared, "StateTableName"))
        pools = deployed_pools(stage, **where)
        survey = pool_survey(pools, state, aws.client("sqs", **where), function_clock())
        if survey is None:
            raise Rejected(f"the stage {stage} has no pools yet; deploy this version first")
        yield survey
