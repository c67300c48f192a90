"""Wires what operators change in a stage: keys, tenants, parked messages, triggers, the pause."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from botocore.exceptions import BotoCoreError, ClientError
from pydantic import TypeAdapter

from switchyard.adapters import aws
from switchyard.adapters.aws_time import function_clock
from switchyard.adapters.cloudformation import CloudFormationOutputs
from switchyard.adapters.cloudwatch_logs import CloudWatchTaskOutput
from switchyard.adapters.dynamodb.access.api_keys import DynamoDbApiKeys
from switchyard.adapters.dynamodb.access.tenants import DynamoDbTenantItems, DynamoDbTenantStore
from switchyard.adapters.dynamodb.event_log import DynamoDbEventReader
from switchyard.adapters.dynamodb.presence import DynamoDbPauseSwitch
from switchyard.adapters.dynamodb.scheduling.tenant_clocks import DynamoDbTenantClocks
from switchyard.adapters.dynamodb.table import DynamoDbTable
from switchyard.adapters.dynamodb.task_graph import DynamoDbTaskGraph
from switchyard.adapters.eventbridge import EventOverflow
from switchyard.adapters.eventbridge_rules import EventBridgeRules
from switchyard.adapters.s3 import S3BlobStore
from switchyard.adapters.sqs import SqsQueueSender
from switchyard.adapters.system import SystemIds
from switchyard.bootstrap.triggers import trigger_operator
from switchyard.bootstrap.wiring import definition_store
from switchyard.domain.access.erasure import Table
from switchyard.domain.access.limits import Ceilings
from switchyard.domain.errors import Unavailable
from switchyard.ports import PauseSwitch, TaskOutput
from switchyard.usecases.access.api_keys import KeyMove, KeyRing
from switchyard.usecases.access.erase_tenant import TenantEraser
from switchyard.usecases.access.tenants import TenantOperator
from switchyard.usecases.dead_letters.parked_messages import ParkedMessages
from switchyard.usecases.dead_letters.watch_redrive import RedriveWatch
from switchyard.usecases.triggers.operate_triggers import TriggerOperator


def new_api_key(tenant: str, *, table_name: str) -> str:
    """Issue a key in the cloud that the environment names."""
    return _key_ring(table_name).issue(tenant)


@contextmanager
def stage_keys(stage: str, **where: str) -> Iterator[KeyRing]:
    """The keys of a stage. `where` and what is raised are as with `stage_parked_messages`."""
    with reached():
        outputs = CloudFormationOutputs(**where)
        table = outputs.of(f"switchyard-{stage}-infrastructure", "ApiKeysTableName")
        yield _key_ring(table, **where)


@contextmanager
def stage_key_move(stage: str, **where: str) -> Iterator[KeyMove]:
    """Yield what moves a stage's keys into their own table; see `stage_parked_messages`."""
    with reached():
        outputs, stack = CloudFormationOutputs(**where), f"switchyard-{stage}-infrastructure"
        yield KeyMove(
            earlier=_api_keys(outputs.of(stack, "StateTableName"), **where),
            keys=_api_keys(outputs.of(stack, "ApiKeysTableName"), **where),
        )


def stage_endpoint(stage: str) -> str:
    """The URL of a deployed stage's API, from its stack's outputs."""
    return CloudFormationOutputs().of(f"switchyard-{stage}-producer-api", "ApiUrl")


@contextmanager
def stage_parked_messages(stage: str, **where: str) -> Iterator[ParkedMessages]:
    """Yield the parked messages of a stage.

    `where` overrides the region, endpoint and credentials of the environment. Within the block,
    too, `Unavailable` is raised when a part of the stage is missing.
    """
    with reached():
        bucket = CloudFormationOutputs(**where).of(
            f"switchyard-{stage}-infrastructure", "ArtifactsBucketName"
        )
        yield ParkedMessages(
            blobs=S3BlobStore(aws.client("s3", **where), bucket),
            queue_sender=SqsQueueSender(aws.client("sqs", **where)),
        )


@contextmanager
def stage_redrive_watch(stage: str, **where: str) -> Iterator[RedriveWatch]:
    """Yield what watches a redriven message; see `stage_parked_messages`."""
    with reached(), stage_parked_messages(stage, **where) as parked:
        outputs, stack = CloudFormationOutputs(**where), f"switchyard-{stage}-infrastructure"
        dynamodb = aws.client("dynamodb", **where)
        log = DynamoDbTable(dynamodb, outputs.of(stack, "EventsTableName"))
        bucket = outputs.of(stack, "ArtifactsBucketName")
        overflow = EventOverflow(S3BlobStore(aws.client("s3", **where), bucket), bucket)
        yield RedriveWatch(
            parked=parked,
            graph=DynamoDbTaskGraph(DynamoDbTable(dynamodb, outputs.of(stack, "StateTableName"))),
            log=DynamoDbEventReader(log, overflow),
            adopting_tenant=outputs.of(stack, "AdoptingTenant"),
            clock=function_clock(),
        )


@contextmanager
def stage_pause_switch(stage: str, **where: str) -> Iterator[PauseSwitch]:
    """Yield the switch that pauses a stage's workers; see `stage_parked_messages`."""
    with reached():
        table = CloudFormationOutputs(**where).of(
            f"switchyard-{stage}-infrastructure", "StateTableName"
        )
        yield DynamoDbPauseSwitch(DynamoDbTable(aws.client("dynamodb", **where), table))


@contextmanager
def stage_tenants(stage: str, **where: str) -> Iterator[TenantOperator]:
    """Yield what sets tenants' settings; see `stage_parked_messages`."""
    with reached():
        table = CloudFormationOutputs(**where).of(
            f"switchyard-{stage}-infrastructure", "StateTableName"
        )
        state = DynamoDbTable(aws.client("dynamodb", **where), table)
        yield TenantOperator(store=DynamoDbTenantStore(state), clocks=DynamoDbTenantClocks(state))


@contextmanager
def stage_eraser(stage: str, **where: str) -> Iterator[TenantEraser]:
    """Yield what erases tenants; otherwise as with `stage_keys`."""
    with reached(), stage_triggers(stage, **where) as triggers:
        outputs, stack = CloudFormationOutputs(**where), f"switchyard-{stage}-infrastructure"
        dynamodb = aws.client("dynamodb", **where)
        names: dict[Table, str] = {
            "state": "StateTableName",
            "events": "EventsTableName",
            "definitions": "TaskDefinitionsTableName",
            "keys": "ApiKeysTableName",
        }
        bucket = outputs.of(stack, "ArtifactsBucketName")
        yield TenantEraser(
            items=DynamoDbTenantItems(
                {
                    table: DynamoDbTable(dynamodb, outputs.of(stack, output))
                    for table, output in names.items()
                }
            ),
            blobs=S3BlobStore(aws.client("s3", **where), bucket),
            triggers=triggers,
        )


@contextmanager
def stage_output(stage: str, request_id: str, *, since_ms: int) -> Iterator[TaskOutput]:
    """Yield the output of a task on a deployed stage; see `stage_parked_messages`."""
    with reached():
        group = f"/switchyard/{stage}/worker"
        yield CloudWatchTaskOutput(aws.client("logs"), group, request_id, since_ms=since_ms)


def function_variables(names: Iterable[str], **where: str) -> dict[str, dict[str, str]]:
    """The environment variables of deployed functions, by function, with all references resolved.

    `where` is as with `stage_parked_messages`. Raise `Unavailable` when a function is not deployed.
    """
    with reached():
        functions = aws.client("lambda", **where)
        found = {name: functions.get_function_configuration(FunctionName=name) for name in names}
    return {name: dict(known["Environment"]["Variables"]) for name, known in found.items()}


def _key_ring(table_name: str, **where: str) -> KeyRing:
    return KeyRing(keys=_api_keys(table_name, **where), ids=SystemIds(), clock=function_clock())


def _api_keys(table_name: str, **where: str) -> DynamoDbApiKeys:
    return DynamoDbApiKeys(DynamoDbTable(aws.client("dynamodb", **where), table_name))


@contextmanager
def reached() -> Iterator[None]:
    try:
        yield
    except (BotoCoreError, ClientError) as error:
        raise Unavailable(str(error)) from error


@contextmanager
def stage_triggers(stage: str, **where: str) -> Iterator[TriggerOperator]:
    """The triggers of a stage.

    `where` is what the environment would else say of region, endpoint and credentials. Within the
    block, too, `Unavailable` is raised when something of it is missing.
    """
    with reached():
        outputs = CloudFormationOutputs(**where)
        table = outputs.of(f"switchyard-{stage}-infrastructure", "StateTableName")
        api = f"switchyard-{stage}-producer-api"
        dynamodb = aws.client("dynamodb", **where)
        definitions = outputs.of(f"switchyard-{stage}-infrastructure", "TaskDefinitionsTableName")
        queue_arn = outputs.of(api, "TriggerQueueArn")
        yield trigger_operator(
            stage,
            DynamoDbTable(dynamodb, table),
            definition_store(dynamodb, definitions),
            _ceilings(stage, **where),
            rules=EventBridgeRules(
                aws.client("events", **where),
                bus_name=f"switchyard-{stage}",
                queue_arn=queue_arn,
                dead_letters_arn=outputs.of(api, "TriggerDeadLettersArn"),
            ),
            sqs=aws.client("sqs", **where),
            queue_arn=queue_arn,
        )


def _ceilings(stage: str, **where: str) -> Ceilings:
    """Read the ceilings of the deployed API: operators register nothing that it would refuse."""
    name = f"switchyard-{stage}-api"
    variables = function_variables([name], **where)[name]
    return TypeAdapter(Ceilings).validate_json(variables["CEILINGS"])
