"""What measures a yard."""

from switchyard.adapters import aws
from switchyard.adapters.aws_time import function_clock
from switchyard.adapters.dynamodb.counters import DynamoDbCounters, DynamoDbPublishedMinutes
from switchyard.adapters.dynamodb.presence import DynamoDbPresence
from switchyard.adapters.dynamodb.table import DynamoDbTable
from switchyard.adapters.dynamodb.unsettled import DynamoDbUnsettled
from switchyard.adapters.sqs_depths import SqsQueueDepths
from switchyard.settings import MeasureSettings
from switchyard.usecases.measuring.measure import Measurer


def measurer(settings: MeasureSettings, **where: str) -> Measurer:
    """`where` is what the environment would else say of region, endpoint and credentials."""
    state = DynamoDbTable(aws.client("dynamodb", **where), settings.state_table_name)
    return Measurer(
        unsettled=DynamoDbUnsettled(state),
        presence=DynamoDbPresence(state),
        counters=DynamoDbCounters(state),
        published=DynamoDbPublishedMinutes(state),
        depths=SqsQueueDepths(aws.client("sqs", **where)),
        task_queue=settings.sqs_queue_url,
        dead_letter_queues=settings.dead_letter_queue_urls.split(","),
        clock=function_clock(),
    )
