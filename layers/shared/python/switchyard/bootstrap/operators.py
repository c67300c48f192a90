"""What people do to a stage with credentials of their own."""

from collections.abc import Iterator
from contextlib import contextmanager

from botocore.exceptions import BotoCoreError, ClientError

from switchyard.adapters import aws
from switchyard.adapters.cloudformation import CloudFormationOutputs
from switchyard.adapters.cloudwatch_logs import CloudWatchTaskOutput
from switchyard.adapters.dynamodb.api_keys import DynamoDbApiKeys
from switchyard.adapters.dynamodb.consumption import DynamoDbConsumption
from switchyard.adapters.dynamodb.event_log import DynamoDbEventReader
from switchyard.adapters.dynamodb.table import DynamoDbTable
from switchyard.adapters.dynamodb.task_graph import DynamoDbTaskGraph
from switchyard.adapters.event_overflow import EventOverflow
from switchyard.adapters.s3 import S3BlobStore
from switchyard.adapters.sqs_mail import SqsMail
from switchyard.adapters.system import SystemClock, SystemIds
from switchyard.domain.errors import Unavailable
from switchyard.ports import Consumption, TaskOutput
from switchyard.usecases.access.api_keys import KeyRing
from switchyard.usecases.letters.kept_letters import KeptLetters
from switchyard.usecases.letters.watch_letter import LetterWatch


def new_api_key(tenant: str, *, state_table_name: str) -> str:
    """Issue a key in the cloud that the environment names."""
    return _key_ring(state_table_name).issue(tenant)


@contextmanager
def stage_keys(stage: str, **where: str) -> Iterator[KeyRing]:
    """The keys of a stage. `where` and what is raised are as with `stage_letters`."""
    with reached():
        outputs = CloudFormationOutputs(**where)
        table = outputs.of(f"switchyard-{stage}-infrastructure", "StateTableName")
        yield _key_ring(table, **where)


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
            clock=SystemClock(),
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
def stage_output(stage: str, request_id: str, *, since_ms: int) -> Iterator[TaskOutput]:
    """What a task prints on a deployed stage; otherwise as with `stage_letters`."""
    with reached():
        group = f"/switchyard/{stage}/worker"
        yield CloudWatchTaskOutput(aws.client("logs"), group, request_id, since_ms=since_ms)


def _key_ring(state_table_name: str, **where: str) -> KeyRing:
    table = DynamoDbTable(aws.client("dynamodb", **where), state_table_name)
    return KeyRing(keys=DynamoDbApiKeys(table), ids=SystemIds(), clock=SystemClock())


@contextmanager
def reached() -> Iterator[None]:
    try:
        yield
    except (BotoCoreError, ClientError) as error:
        raise Unavailable(str(error)) from error
