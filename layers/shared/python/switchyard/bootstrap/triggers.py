"""The function that triggers start jobs with, and what operators do with triggers."""

from collections.abc import Iterator
from contextlib import contextmanager

from botocore.exceptions import BotoCoreError, ClientError

from switchyard.adapters import aws
from switchyard.adapters.cloudformation import CloudFormationOutputs
from switchyard.adapters.dynamodb.job_intake import DynamoDbJobIntake
from switchyard.adapters.dynamodb.job_store import DynamoDbJobStore
from switchyard.adapters.dynamodb.payloads import DynamoDbPayloads
from switchyard.adapters.dynamodb.submission_keys import DynamoDbSubmissionKeys
from switchyard.adapters.dynamodb.table import DynamoDbTable
from switchyard.adapters.dynamodb.trigger_store import DynamoDbTriggerStore
from switchyard.adapters.eventbridge_rules import EventBridgeRules
from switchyard.adapters.s3 import S3BlobStore
from switchyard.adapters.sqs_dispatch import SqsDispatchQueue
from switchyard.adapters.sqs_mail import SqsMail
from switchyard.adapters.system import SystemClock, SystemIds
from switchyard.bootstrap.wiring import definition_store, emitter_for, quarantine_for
from switchyard.contracts.undeliverable import queue_name
from switchyard.domain.errors import Unavailable
from switchyard.settings import TriggerSettings
from switchyard.usecases.operate_triggers import TriggerOperator
from switchyard.usecases.start_triggered import TriggerStarter
from switchyard.usecases.submit_job import Submitter


def trigger_starter(settings: TriggerSettings) -> TriggerStarter:
    dynamodb = aws.client("dynamodb")
    state = DynamoDbTable(dynamodb, settings.state_table_name)
    blobs = S3BlobStore(aws.client("s3"), settings.s3_bucket)
    jobs, clock = DynamoDbJobStore(state), SystemClock()
    return TriggerStarter(
        triggers=DynamoDbTriggerStore(state),
        jobs=jobs,
        submitter=Submitter(
            intake=DynamoDbJobIntake(state, DynamoDbPayloads(state, blobs)),
            jobs=jobs,
            definitions=definition_store(dynamodb, settings.task_definitions_table),
            submission_keys=DynamoDbSubmissionKeys(state),
            blobs=blobs,
            dispatches=SqsDispatchQueue(aws.client("sqs"), settings.dispatch_queue_url),
            emitter=emitter_for(settings, origin="triggers"),
            clock=clock,
            ids=SystemIds(),
        ),
        quarantine=quarantine_for(settings.trigger_queue_url, blobs, clock),
        clock=clock,
        bucket=settings.s3_bucket,
    )


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
        yield TriggerOperator(
            stage=stage,
            store=DynamoDbTriggerStore(DynamoDbTable(aws.client("dynamodb", **where), table)),
            rules=EventBridgeRules(
                aws.client("events", **where),
                bus_name=f"switchyard-{stage}",
                queue_arn=queue_arn,
                dead_letters_arn=outputs.of(api, "TriggerDeadLettersArn"),
            ),
            mail=SqsMail(aws.client("sqs", **where)),
            queue=queue_name(queue_arn),
            clock=SystemClock(),
        )
    except (BotoCoreError, ClientError) as error:
        raise Unavailable(str(error)) from error
