"""Wires the pools of a stage: which of them serve a group, and the queues that wake them."""

from typing import Any

from switchyard.adapters import aws
from switchyard.adapters.dynamodb.presence import DynamoDbPresence, DynamoDbSubscriptionStore
from switchyard.adapters.dynamodb.table import DynamoDbTable
from switchyard.adapters.sqs import SqsTaskQueue
from switchyard.adapters.sqs_depths import SqsQueueDepths
from switchyard.domain.scheduling.pools import DeployedPool
from switchyard.ports import Clock, TaskQueue
from switchyard.settings import PoolsSettings
from switchyard.usecases.scheduling.pool_directory import PoolDirectory, PoolQueues
from switchyard.usecases.scheduling.survey_pools import PoolSurvey


def pool_directory(
    pools: tuple[DeployedPool, ...], state: DynamoDbTable, clock: Clock
) -> PoolDirectory:
    return PoolDirectory(pools, store=DynamoDbSubscriptionStore(state), clock=clock)


def pool_survey(
    pools: tuple[DeployedPool, ...], state: DynamoDbTable, sqs: Any, clock: Clock
) -> PoolSurvey | None:
    """Return what surveys the pools; `None` on a stage that has none."""
    if not pools:
        return None
    return PoolSurvey(
        directory=pool_directory(pools, state, clock),
        presence=DynamoDbPresence(state),
        depths=SqsQueueDepths(sqs),
        clock=clock,
    )


def task_queue(
    settings: PoolsSettings, queue_url: str, *, state: DynamoDbTable, clock: Clock
) -> TaskQueue:
    """Return what wakes workers: the queues of all pools, or the one queue of an older stage."""
    sqs = aws.client("sqs")
    if not settings.pools:
        return SqsTaskQueue(sqs, queue_url)
    return pool_queues(pool_directory(settings.pools, state, clock), sqs)


def pool_queues(directory: PoolDirectory, sqs: Any) -> PoolQueues:
    return PoolQueues(directory, lambda url: SqsTaskQueue(sqs, url))
