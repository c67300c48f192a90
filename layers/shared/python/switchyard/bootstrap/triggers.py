"""What operators do with triggers."""

from collections.abc import Iterator
from contextlib import contextmanager

from botocore.exceptions import BotoCoreError, ClientError

from switchyard.adapters import aws
from switchyard.adapters.aws_time import function_clock
from switchyard.adapters.cloudformation import CloudFormationOutputs
from switchyard.adapters.dynamodb.table import DynamoDbTable
from switchyard.adapters.dynamodb.tenants import DynamoDbTenantStore
from switchyard.adapters.dynamodb.trigger_store import DynamoDbTriggerStore
from switchyard.adapters.eventbridge_rules import EventBridgeRules
from switchyard.adapters.sqs_mail import SqsMail
from switchyard.contracts.undeliverable import queue_name
from switchyard.domain.errors import Unavailable
from switchyard.usecases.triggers.operate_triggers import TriggerOperator


@contextmanager
def stage_triggers(stage: str, **where: str) -> Iterator[TriggerOperator]:
    """The triggers of a stage.

    `where` is what the environment would else say of region, endpoint and credentials. Within the
    block, too, `Unavailable` is raised when something of it is missing.
    """
    try:
        outputs = CloudFormationOutputs(**where)
        table = outputs.of(f"switchyard-{stage}-infrastructure", "StateTableName")
        api = f"switchyard-{stage}-producer-api"
        queue_arn = outputs.of(api, "TriggerQueueArn")
        state = DynamoDbTable(aws.client("dynamodb", **where), table)
        yield TriggerOperator(
            stage=stage,
            store=DynamoDbTriggerStore(state),
            tenants=DynamoDbTenantStore(state),
            rules=EventBridgeRules(
                aws.client("events", **where),
                bus_name=f"switchyard-{stage}",
                queue_arn=queue_arn,
                dead_letters_arn=outputs.of(api, "TriggerDeadLettersArn"),
            ),
            mail=SqsMail(aws.client("sqs", **where)),
            queue=queue_name(queue_arn),
            clock=function_clock(),
        )
    except (BotoCoreError, ClientError) as error:
        raise Unavailable(str(error)) from error
