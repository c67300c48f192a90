"""The resources that a worker needs to run tasks, on a cloud of its own, and nothing else."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from urllib.parse import urlsplit

from switchyard.adapters.dynamodb.definition_store import DynamoDbDefinitionStore
from switchyard.adapters.dynamodb.items import task_from, task_item
from switchyard.adapters.dynamodb.payloads import DynamoDbPayloads
from switchyard.adapters.dynamodb.table import DynamoDbTable
from switchyard.adapters.dynamodb.values import deserialized
from switchyard.adapters.s3 import S3BlobStore
from switchyard.adapters.sqs import SqsTaskQueue
from switchyard.contracts.definitions import TaskDefinition
from switchyard.contracts.messages import TaskMessage
from switchyard.domain.ids import JobRef
from switchyard.domain.states import TaskState
from switchyard.domain.tasks.task import MAX_ATTEMPTS, Payload, Task
from switchyard_local.environments import aws_environment
from tests.contract.clouds import Cloud
from tests.fakes.tables import BUCKET, a_table, state_table

JOB = JobRef("bench", "job-00000000-0000-4000-8000-000000000001")
BUS = "bus"
DEFINITION = TaskDefinition(
    description="Say how it went.",
    tag="tester",
    output_schema={
        "type": "object",
        "properties": {"summary": {"type": "string"}},
        "required": ["summary"],
        "additionalProperties": False,
    },
)


@dataclass
class BenchHarness:
    cloud: Cloud

    def __post_init__(self) -> None:
        self.cloud.client("events").create_event_bus(Name=BUS)
        self._dynamodb = self.cloud.client("dynamodb")
        self._state = DynamoDbTable(self._dynamodb, state_table(self._dynamodb, "state"))
        self._definitions = DynamoDbTable(self._dynamodb, a_table(self._dynamodb, "definitions"))
        self.cloud.client("s3").create_bucket(Bucket=BUCKET)
        self._blobs = S3BlobStore(self.cloud.client("s3"), BUCKET)
        self._registered = DynamoDbDefinitionStore(self._definitions).put(
            JOB.tenant, "report", DEFINITION
        )

    @cached_property
    def queue_url(self) -> str:
        url: str = self.cloud.client("sqs").create_queue(QueueName="tasks")["QueueUrl"]
        return url

    @property
    def environment(self) -> dict[str, str]:
        port = urlsplit(self.cloud.client("sqs").meta.endpoint_url).port or 0
        return {
            **aws_environment(port),
            "STAGE": "bench",
            "EVENTBRIDGE_BUS_NAME": BUS,
            "STATE_TABLE_NAME": self._state.name,
            "TASK_DEFINITIONS_TABLE": self._definitions.name,
            "SQS_QUEUE_URL": self.queue_url,
            "S3_BUCKET": BUCKET,
            "AGENT_BACKEND": "offline",
            "DELETE_FILES_AFTER_UPLOAD": "true",
        }

    def submit(self, count: int, *, max_attempts: int = MAX_ATTEMPTS) -> None:
        tasks = [self._task(number, max_attempts) for number in range(count)]
        payloads = DynamoDbPayloads(self._state, self._blobs)
        given = Payload(input={"store": "example.com"})
        self._state.put_many([task_item(task) for task in tasks])
        self._state.put_many([payloads.new_item(task.ref, given) for task in tasks])
        self.send(tasks)

    def send(self, tasks: Sequence[Task]) -> None:
        messages = [TaskMessage.to(task.ref, run=task.run) for task in tasks]
        SqsTaskQueue(self.cloud.client("sqs"), self.queue_url).send(messages)

    def tasks(self) -> Sequence[Task]:
        return [task_from(item, JOB) for item in self._items() if item["SK"].startswith("TASK#")]

    def files(self) -> int:
        pages = self.cloud.client("s3").get_paginator("list_objects_v2")
        found = pages.paginate(Bucket=BUCKET)
        return sum(page.get("KeyCount", 0) for page in found)

    def left_in_queue(self) -> int:
        counts = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"]
        answer = self.cloud.client("sqs").get_queue_attributes(
            QueueUrl=self.queue_url, AttributeNames=counts
        )
        return sum(int(answer["Attributes"][name]) for name in counts)

    def _items(self) -> Iterator[dict[str, Any]]:
        pages = self._dynamodb.get_paginator("scan").paginate(TableName=self._state.name)
        return (deserialized(item) for page in pages for item in page["Items"])

    def _task(self, number: int, max_attempts: int) -> Task:
        return Task(
            ref=JOB.task(f"t{number}"),
            state=TaskState.QUEUED,
            definition=self._registered.name,
            definition_version=self._registered.version,
            max_attempts=max_attempts,
        )
