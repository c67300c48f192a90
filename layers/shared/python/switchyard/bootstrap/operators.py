"""What people do to a stage with credentials of their own."""

from botocore.exceptions import BotoCoreError, ClientError

from switchyard.adapters import aws
from switchyard.adapters.cloudformation import CloudFormationOutputs
from switchyard.adapters.dynamodb.api_keys import DynamoDbApiKeys
from switchyard.adapters.dynamodb.table import DynamoDbTable
from switchyard.adapters.system import SystemClock, SystemIds
from switchyard.domain.errors import Unavailable
from switchyard.usecases.api_keys import issue_api_key


def new_api_key(tenant: str, *, state_table_name: str) -> str:
    """Issue a key in the stage that the environment's credentials reach.

    Raise `Unavailable` when credentials, region, permission or table are missing.
    """
    try:
        keys = DynamoDbApiKeys(DynamoDbTable(aws.client("dynamodb"), state_table_name))
        return issue_api_key(tenant, keys=keys, ids=SystemIds(), clock=SystemClock())
    except (BotoCoreError, ClientError) as error:
        raise Unavailable(str(error)) from error


def stage_endpoint(stage: str) -> str:
    """The URL of a deployed stage's API, from its stack's outputs."""
    return CloudFormationOutputs().of(f"switchyard-{stage}-producer-api", "ApiUrl")


def stage_state_table(stage: str) -> str:
    """The name of a deployed stage's state table, from its stack's outputs."""
    return CloudFormationOutputs().of(f"switchyard-{stage}-infrastructure", "StateTableName")
