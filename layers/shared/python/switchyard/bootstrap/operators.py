"""What people do to a stage with credentials of their own."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from botocore.exceptions import BotoCoreError, ClientError

from switchyard.adapters import aws
from switchyard.adapters.aws_time import function_clock
from switchyard.adapters.cloudformation import CloudFormationOutputs
from switchyard.adapters.cloudwatch_logs import CloudWatchTaskOutput
from switchyard.adapters.dynamodb.api_keys import DynamoDbApiKeys
from switchyard.adapters.dynamodb.consumption import DynamoDbConsumption
from switchyard.adapters.dynamodb.event_log import DynamoDbEventReader
from switchyard.adapters.dynamodb.table import DynamoDbTable
from switchyard.adapters.dynamodb.task_graph import DynamoDbTaskGraph
from switchyard.adapters.dynamodb.tenants import DynamoDbTenantStore
from switchyard.adapters.dynamodb.trigger_store import DynamoDbTriggerStore
from switchyard.adapters.event_overflow import EventOverflow
from switchyard.adapters.eventbridge_rules import EventBridgeRules
from switchyard.adapters.s3 import S3BlobStore
from switchyard.adapters.sqs_mail import SqsMail
from switchyard.adapters.system import SystemIds
from switchyard.contracts.undeliverable import queue_name
from switchyard.domain.errors import Unavailable
from switchyard.ports import Consumption, TaskOutput
from switchyard.usecases.access.api_keys import KeyMove, KeyRing
from switchyard.usecases.access.tenants import TenantOperator
from switchyard.usecases.letters.kept_letters import KeptLetters
from switchyard.usecases.letters.watch_letter import LetterWatch
from switchyard.usecases.triggers.operate_triggers import TriggerOperator


def new_api_key(tenant: str, *, table_name: str) -> str:
    """Issue a key in the cloud that the environment names."""
    return _key_ring(table_name).issue(tenant)


@contextmanager
def stage_keys(stage: str, **where: str) -> Iterator[KeyRing]:
    """The keys of a stage. `where` and what is raised are as with `stage_letters`."""
    with reached():
        outputs = CloudFormationOutputs(**where)
        table = outputs.of(f"switchyard-{stage}-infrastructure", "ApiKeysTableName")
        yield _key_ring(table, **where)


@contextmanager
def stage_key_move(stage: str, **where: str) -> Iterator[KeyMove]:
    """Yield what moves a stage's keys into their own table; otherwise as with `stage_letters`."""
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
def stage_letters(stage: str, **where: str) -> Iterator[KeptLetters]:
    """What a stage keeps because nobody could handle it.

    `where` is what the environment would else say of region, endpoint and credentials. Within the
    block, too, `Unavailable` is raised when something of it is missing.
    """
    with reached():
        bucket = CloudFormationOutputs(**where).of(
            f"switchyard-{stage}-infrastructure", "ArtifactsBucketName"
        )
        yield KeptLetters(
            blobs=S3BlobStore(aws.client("s3", **where), bucket),
            mail=SqsMail(aws.client("sqs", **where)),
        )


@contextmanager
def stage_letter_watch(stage: str, **where: str) -> Iterator[LetterWatch]:
    """Sees what becomes of letters that are sent again; otherwise as with `stage_letters`."""
    with reached(), stage_letters(stage, **where) as letters:
        outputs, stack = CloudFormationOutputs(**where), f"switchyard-{stage}-infrastructure"
        dynamodb = aws.client("dynamodb", **where)
        log = DynamoDbTable(dynamodb, outputs.of(stack, "EventsTableName"))
        bucket = outputs.of(stack, "ArtifactsBucketName")
        overflow = EventOverflow(S3BlobStore(aws.client("s3", **where), bucket), bucket)
        yield LetterWatch(
            letters=letters,
            graph=DynamoDbTaskGraph(DynamoDbTable(dynamodb, outputs.of(stack, "StateTableName"))),
            log=DynamoDbEventReader(log, overflow),
            adopting_tenant=outputs.of(stack, "AdoptingTenant"),
            clock=function_clock(),
        )


@contextmanager
def stage_consumption(stage: str, **where: str) -> Iterator[Consumption]:
    """The brake of a stage's workers; otherwise as with `stage_letters`."""
    with reached():
        table = CloudFormationOutputs(**where).of(
            f"switchyard-{stage}-infrastructure", "StateTableName"
        )
        yield DynamoDbConsumption(DynamoDbTable(aws.client("dynamodb", **where), table))


@contextmanager
def stage_tenants(stage: str, **where: str) -> Iterator[TenantOperator]:
    """Yield what sets tenants' settings; otherwise as with `stage_letters`."""
    with reached():
        table = CloudFormationOutputs(**where).of(
            f"switchyard-{stage}-infrastructure", "StateTableName"
        )
        state = DynamoDbTable(aws.client("dynamodb", **where), table)
        yield TenantOperator(store=DynamoDbTenantStore(state))


@contextmanager
def stage_output(stage: str, request_id: str, *, since_ms: int) -> Iterator[TaskOutput]:
    """What a task prints on a deployed stage; otherwise as with `stage_letters`."""
    with reached():
        group = f"/switchyard/{stage}/worker"
        yield CloudWatchTaskOutput(aws.client("logs"), group, request_id, since_ms=since_ms)


def function_variables(names: Iterable[str], **where: str) -> dict[str, dict[str, str]]:
    """The environment variables of deployed functions, by function, with all references resolved.

    `where` is as with `stage_letters`. Raise `Unavailable` when a function is not deployed.
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
        queue_arn = outputs.of(api, "TriggerQueueArn")
        state = DynamoDbTable(aws.client("dynamodb", **where), table)
        yield TriggerOperator(
            stage=stage,
            store=DynamoDbTriggerStore(state),
            tenants=DynamoDbTenantStore(state),
            rules=EventBridgeRules(
                aws.client("events", **where),
                bus_name=f"switchyard-{stage}",
                queue_arn=queue_arn,
                dead_letters_arn=outputs.of(api, "TriggerDeadLettersArn"),
            ),
            mail=SqsMail(aws.client("sqs", **where)),
            queue=queue_name(queue_arn),
            clock=function_clock(),
        )
