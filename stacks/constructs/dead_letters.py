"""The functions behind the dead-letter queues, and the alarms on what they find."""

from collections.abc import Mapping

from aws_cdk import aws_iam as iam
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from stacks.constructs.alarms import counted, raise_alarm, watch_depth
from stacks.constructs.function import HouseFunction
from stacks.constructs.layers import FunctionLayers
from stacks.constructs.permissions import allow, allow_on_partitions
from stacks.environment import environment_for, pools_as_json
from stacks.infrastructure import InfrastructureStack
from stacks.stage import Stage
from switchyard.contracts.metrics import RECEIVED
from switchyard.contracts.parked_messages import DEAD_LETTER_METRIC, POISON_METRIC, QUEUE
from switchyard.contracts.tables import (
    POOLS_PARTITION,
    group_partition,
    job_partition,
    limit_partition,
    queues_partition,
)
from switchyard.domain.scheduling.pools import DEFAULT_POOL
from switchyard.settings import ArchiveDeadLettersSettings, DeadLetterSettings

LOOK = "Look with `switchyard dlq`."


def archive_dead_letters(
    scope: Construct,
    *,
    stage: Stage,
    shared: InfrastructureStack,
    layers: FunctionLayers,
    queues: Mapping[str, sqs.Queue],
) -> None:
    """Park the messages of dead-letter queues, which are named by what their messages mean."""
    alert = HouseFunction(
        scope,
        "Alert",
        stage=stage,
        folder="archive_dead_letters",
        layers=layers,
        environment=environment_for(
            ArchiveDeadLettersSettings,
            stage=stage.name,
            s3_bucket=shared.artifacts.bucket.bucket_name,
        ),
    )
    shared.artifacts.allow_parking_dead_letters(alert.role)
    for what, dead_letters in queues.items():
        alert.consume(
            dead_letters,
            batch_size=10,
            at_once=stage.concurrency.archive_dead_letters,
            name=f"{what}Messages",
        )
        raise_alarm(
            scope,
            what,
            counted(DEAD_LETTER_METRIC, stage, service="alert", **{QUEUE: dead_letters.queue_name}),
            stage=stage,
            meaning=f"A message could not be handled, and is parked. {LOOK}",
            reported=False,
        )
        watch_depth(scope, what, dead_letters, stage=stage, reader="alert")


def process_dead_letters(
    scope: Construct, *, stage: Stage, shared: InfrastructureStack, layers: FunctionLayers
) -> None:
    processor = HouseFunction(
        scope,
        "ProcessDeadLetters",
        stage=stage,
        folder="process_dead_letters",
        layers=layers,
        environment=environment_for(
            DeadLetterSettings,
            stage=stage.name,
            eventbridge_bus_name=shared.bus.event_bus_name,
            state_table_name=shared.state_table.table_name,
            task_definitions_table=shared.task_definitions_table.table_name,
            sqs_queue_url=shared.tasks.queue.queue_url,
            s3_bucket=shared.artifacts.bucket.bucket_name,
            tenant_id=stage.adopting_tenant,
            pools=pools_as_json(shared.pools),
        ),
    )
    _grant(processor.role, shared)
    for pool, queue in shared.pool_queues.items():
        processor.consume(
            queue.dead_letters,
            batch_size=10,
            at_once=stage.concurrency.process_dead_letters,
            name="Messages" if pool == DEFAULT_POOL else f"Messages-{pool}",
        )
    _watch_dead_letters_of_tasks(scope, stage, shared)


def _watch_dead_letters_of_tasks(
    scope: Construct, stage: Stage, shared: InfrastructureStack
) -> None:
    raise_alarm(
        scope,
        "TaskReceivedInVain",
        counted(RECEIVED, stage, service="process-dead-letters"),
        stage=stage,
        meaning="A task was received three times and never settled.",
    )
    raise_alarm(
        scope,
        "DeadLetterQuarantined",
        counted(POISON_METRIC, stage, service="process-dead-letters"),
        stage=stage,
        meaning=f"A message of the task queue is poison. {LOOK}",
        reported=False,
    )
    for pool, queue in shared.pool_queues.items():
        watch_depth(
            scope,
            "TaskReceivedInVain" + ("" if pool == DEFAULT_POOL else f"-{pool}"),
            queue.dead_letters,
            stage=stage,
            reader="process-dead-letters",
        )


def _grant(role: iam.IRole, shared: InfrastructureStack) -> None:
    state, definitions = shared.state_table.table_arn, shared.task_definitions_table.table_arn
    allow_on_partitions(
        role,
        "dynamodb:GetItem",
        "dynamodb:UpdateItem",
        state_table=state,
        partitions=[job_partition("*", "*"), group_partition("*"), limit_partition("*", "*")],
    )
    allow_on_partitions(
        role, "dynamodb:GetItem", state_table=state, partitions=[queues_partition("*")]
    )
    allow(role, "dynamodb:BatchGetItem", on=[definitions])
    shared.artifacts.allow_task_files(role, "s3:GetObject", "s3:PutObject")
    shared.artifacts.allow_event_payloads(role)
    shared.artifacts.allow_parking(role)
    allow_on_partitions(role, "dynamodb:Query", state_table=state, partitions=[POOLS_PARTITION])
    queues = [one.queue.queue_arn for one in shared.pool_queues.values()]
    allow(role, "sqs:SendMessage", on=queues)
    allow(role, "events:PutEvents", on=[shared.bus.event_bus_arn])
