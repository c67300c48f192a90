"""Builds the use case that changes triggers: for operators, and for tenants behind the API."""

from typing import Any

from switchyard.adapters.aws_time import function_clock
from switchyard.adapters.dynamodb.access.tenants import DynamoDbTenantStore
from switchyard.adapters.dynamodb.table import DynamoDbTable
from switchyard.adapters.dynamodb.trigger_store import DynamoDbTriggerStore
from switchyard.adapters.eventbridge_rules import EventBridgeRules
from switchyard.adapters.sqs import SqsQueueSender
from switchyard.contracts.sqs_records import queue_name
from switchyard.domain.access.limits import Ceilings
from switchyard.ports import DefinitionStore
from switchyard.usecases.triggers.operate_triggers import TriggerOperator


def trigger_operator(
    stage: str,
    state: DynamoDbTable,
    definitions: DefinitionStore,
    ceilings: Ceilings,
    *,
    rules: EventBridgeRules,
    sqs: Any,
    queue_arn: str,
) -> TriggerOperator:
    """Build the operator of triggers; `sqs` is a client of SQS."""
    return TriggerOperator(
        stage=stage,
        store=DynamoDbTriggerStore(state),
        tenants=DynamoDbTenantStore(state),
        definitions=definitions,
        ceilings=ceilings,
        rules=rules,
        queue_sender=SqsQueueSender(sqs),
        queue=queue_name(queue_arn),
        clock=function_clock(),
    )
