"""Wires the sweeper."""

from dataclasses import dataclass
from functools import partial

from switchyard.adapters import aws
from switchyard.adapters.aws_time import function_clock
from switchyard.adapters.dynamodb.table import DynamoDbTable
from switchyard.adapters.parallel import Threads
from switchyard.adapters.s3 import S3BlobStore
from switchyard.adapters.sqs import SqsDispatchQueue, SqsTaskQueue
from switchyard.adapters.sqs_depths import SqsQueueDepths
from switchyard.bootstrap.dispatch import DispatchingParts
from switchyard.bootstrap.wiring import emitter_for
from switchyard.settings import SweeperSettings
from switchyard.usecases.dispatching.sweep import Sweeper
from switchyard.usecases.scheduling.sweep_groups import GroupSweeper


@dataclass(frozen=True)
class Sweepers:
    """What looks after a stage every minute."""

    overdue: Sweeper
    groups: GroupSweeper


def sweepers(settings: SweeperSettings) -> Sweepers:
    sqs = aws.client("sqs")
    parts = DispatchingParts(
        state=DynamoDbTable(aws.client("dynamodb"), settings.state_table_name),
        blobs=S3BlobStore(aws.client("s3"), settings.s3_bucket),
        queue=SqsTaskQueue(sqs, settings.sqs_queue_url),
        dispatches=SqsDispatchQueue(sqs, settings.dispatch_queue_url, settings.job_queue_url),
        emitter=emitter_for(settings, origin="sweeper"),
        clock=function_clock(),
        parallel=Threads(),
    )
    depth = partial(SqsQueueDepths(sqs).of, settings.sqs_queue_url)
    groups = parts.group_sweeper(depth, most_tokens=settings.sweep_most_tokens)
    return Sweepers(parts.sweeper(), groups)
