"""The function that triggers start jobs with."""

from switchyard.adapters import aws
from switchyard.adapters.aws_time import function_clock
from switchyard.adapters.dynamodb.job_intake import DynamoDbJobIntake
from switchyard.adapters.dynamodb.job_store import DynamoDbJobStore
from switchyard.adapters.dynamodb.payloads import DynamoDbPayloads
from switchyard.adapters.dynamodb.submission_keys import DynamoDbSubmissionKeys
from switchyard.adapters.dynamodb.table import DynamoDbTable
from switchyard.adapters.dynamodb.tenants import DynamoDbTenantStore
from switchyard.adapters.dynamodb.trigger_store import DynamoDbTriggerStore
from switchyard.adapters.s3 import S3BlobStore
from switchyard.adapters.sqs_dispatch import SqsDispatchQueue
from switchyard.adapters.system import SystemIds
from switchyard.bootstrap.changing import open_task_limit
from switchyard.bootstrap.wiring import definition_store, emitter_for, quarantine_for
from switchyard.settings import TriggerSettings
from switchyard.usecases.jobs.submit_job import Submitter
from switchyard.usecases.triggers.start_triggered import TriggerStarter


def trigger_starter(settings: TriggerSettings) -> TriggerStarter:
    dynamodb = aws.client("dynamodb")
    state = DynamoDbTable(dynamodb, settings.state_table_name)
    blobs = S3BlobStore(aws.client("s3"), settings.s3_bucket)
    jobs, clock = DynamoDbJobStore(state), function_clock()
    return TriggerStarter(
        triggers=DynamoDbTriggerStore(state),
        jobs=jobs,
        submitter=Submitter(
            intake=DynamoDbJobIntake(state, DynamoDbPayloads(state, blobs)),
            jobs=jobs,
            definitions=definition_store(dynamodb, settings.task_definitions_table),
            submission_keys=DynamoDbSubmissionKeys(state),
            tenants=DynamoDbTenantStore(state),
            open_tasks=open_task_limit(state, settings.ceilings),
            blobs=blobs,
            dispatches=SqsDispatchQueue(
                aws.client("sqs"), settings.dispatch_queue_url, settings.job_queue_url
            ),
            emitter=emitter_for(settings, origin="triggers"),
            clock=clock,
            ids=SystemIds(),
            ceilings=settings.ceilings,
            webhooks_may_reach_private=settings.webhooks_may_reach_private,
        ),
        quarantine=quarantine_for(settings.trigger_queue_url, blobs, clock),
        clock=clock,
        bucket=settings.s3_bucket,
    )
