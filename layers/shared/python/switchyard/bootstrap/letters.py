"""The functions behind dead-letter queues."""

from switchyard.adapters import aws
from switchyard.adapters.aws_time import function_clock
from switchyard.adapters.dynamodb.payloads import DynamoDbPayloads
from switchyard.adapters.dynamodb.table import DynamoDbTable
from switchyard.adapters.dynamodb.task_adoption import DynamoDbTaskAdoption
from switchyard.adapters.dynamodb.task_graph import DynamoDbTaskGraph
from switchyard.adapters.dynamodb.task_leases import DynamoDbTaskLeases
from switchyard.adapters.s3 import S3BlobStore
from switchyard.adapters.sqs import SqsTaskQueue
from switchyard.bootstrap.wiring import definition_store, emitter_for, quarantine_for
from switchyard.settings import ArchiveDeadLettersSettings, DeadLetterSettings
from switchyard.usecases.dispatching.adopt_task import Adopter
from switchyard.usecases.letters.keep_undeliverable import UndeliverableKeeper
from switchyard.usecases.letters.process_dead_letter import DeadLetterProcessor


def dead_letter_processor(settings: DeadLetterSettings) -> DeadLetterProcessor:
    dynamodb = aws.client("dynamodb")
    state = DynamoDbTable(dynamodb, settings.state_table_name)
    blobs = S3BlobStore(aws.client("s3"), settings.s3_bucket)
    payloads, clock = DynamoDbPayloads(state, blobs), function_clock()
    return DeadLetterProcessor(
        tenant_id=settings.tenant_id,
        graph=DynamoDbTaskGraph(state),
        leases=DynamoDbTaskLeases(state),
        payloads=payloads,
        queue=SqsTaskQueue(aws.client("sqs"), settings.sqs_queue_url),
        adopter=Adopter(
            definitions=definition_store(dynamodb, settings.task_definitions_table),
            adoption=DynamoDbTaskAdoption(state, payloads),
            clock=clock,
        ),
        quarantine=quarantine_for(settings.sqs_queue_url, blobs, clock),
        emitter=emitter_for(settings, origin="dead-letters"),
        clock=clock,
    )


def undeliverable_keeper(settings: ArchiveDeadLettersSettings) -> UndeliverableKeeper:
    blobs = S3BlobStore(aws.client("s3"), settings.s3_bucket)
    return UndeliverableKeeper(blobs=blobs, clock=function_clock())
