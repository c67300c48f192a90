"""Wires the sweeper."""

from dataclasses import dataclass

from switchyard.adapters import aws
from switchyard.adapters.aws_time import function_clock
from switchyard.adapters.dynamodb.table import DynamoDbTable
from switchyard.adapters.parallel import Threads
from switchyard.adapters.s3 import S3BlobStore
from switchyard.adapters.sqs import SqsDispatchQueue
from switchyard.adapters.sqs_depths import SqsQueueDepths
from switchyard.bootstrap.dispatch import DispatchingParts
from switchyard.bootstrap.pools import pool_directory, task_queue
from switchyard.bootstrap.wiring import emitter_for
from switchyard.settings import SweeperSettings
from switchyard.usecases.dispatching.sweep import Sweeper
from switchyard.usecases.scheduling.served_groups import ServedGroups
from switchyard.usecases.scheduling.sweep_groups import GroupSweeper


@dataclass(frozen=True)
class Sweepers:
    """What looks after a stage every minute."""

    overdue: Sweeper
    groups: GroupSweeper


def sweepers(settings: SweeperSettings) -> Sweepers:
    sqs = aws.client("sqs")
    state = DynamoDbTable(aws.client("dynamodb"), settings.state_table_name)
    clock = function_clock()
    parts = DispatchingParts(
        state=state,
        blobs=S3BlobStore(aws.client("s3"), settings.s3_bucket),
        queue=task_queue(settings, settings.sqs_queue_url, state=state, clock=clock),
        dispatches=SqsDispatchQueue(sqs, settings.dispatch_queue_url, settings.job_queue_url),
        emitter=emitter_for(settings, origin="sweeper"),
        clock=clock,
        parallel=Threads(),
    )
    served = ServedGroups(
        settings.sqs_queue_url,
        directory=pool_directory(settings.pools, state, clock) if settings.pools else None,
        depths=SqsQueueDepths(sqs),
    )
    return Sweepers(parts.sweeper(), parts.group_sweeper(served, settings.sweep_most_tokens))
