"""A scenario's own queues, tables, bus and bucket, which nothing else knows of."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from switchyard.adapters.dynamodb.definition_store import DynamoDbDefinitionStore
from switchyard.adapters.dynamodb.items import TASK_PREFIX, task_from
from switchyard.adapters.dynamodb.table import DynamoDbTable
from switchyard.adapters.dynamodb.values import Item, deserialized
from switchyard.contracts.definitions import TaskDefinition
from switchyard.contracts.messages import REQUEST_ID_ATTRIBUTE
from switchyard.contracts.parked_messages import PARKED_PREFIX
from switchyard.domain.ids import JobRef
from switchyard.domain.tasks.task import Task
from switchyard_local.say import Say
from switchyard_scenarios.harness.names import Names
from switchyard_scenarios.harness.place import Place
from switchyard_scenarios.harness.removal import remove_harness

TENANT: Final = "scenarios"
DEFINITION: Final = "handle-message"
MAX_RECEIVES: Final = 3
_VISIBILITY_SECONDS: Final = 10  # of what is received without saying; a worker says it
_HANDLE_MESSAGE: Final = TaskDefinition(
    description="Handle one message.", tag="handler", backend="offline"
)


@dataclass(frozen=True, kw_only=True)
class Harness:
    place: Place
    names: Names
    planted: str = ""
    """The defect that this run is to have, by its name; none, if it is empty."""

    def build(self, *, redrive: bool = True) -> None:
        """Build the resources; `redrive`: whether messages can become dead letters."""
        dead_letters = self.make_queue(self.names.dead_letters)
        self.make_queue(self.names.tasks, dead_letters=dead_letters if redrive else None)
        dynamodb = self.place.client("dynamodb")
        for name, key in self.names.tables.items():
            dynamodb.create_table(**_table(name, key))
        self.place.client("events").create_event_bus(Name=self.names.bus)
        _make_bucket(self.place.client("s3"), self.names.bucket)
        for name in self.names.tables:
            dynamodb.get_waiter("table_exists").wait(TableName=name, WaiterConfig={"Delay": 2})
        definitions = DynamoDbTable(dynamodb, self.names.definitions)
        DynamoDbDefinitionStore(definitions).put(TENANT, DEFINITION, _HANDLE_MESSAGE)

    def make_queue(self, name: str, *, dead_letters: str | None = None) -> str:
        """Return the new queue's URL. `dead_letters` is the URL of its dead-letter queue."""
        attributes = {"VisibilityTimeout": str(_VISIBILITY_SECONDS)}
        if dead_letters:
            policy = {
                "deadLetterTargetArn": self.queue_arn(dead_letters),
                "maxReceiveCount": MAX_RECEIVES,
            }
            attributes["RedrivePolicy"] = json.dumps(policy)
        made = self.place.client("sqs").create_queue(QueueName=name, Attributes=attributes)
        url: str = made["QueueUrl"]
        return url

    def queue_arn(self, url: str) -> str:
        return self._attributes(url, "QueueArn")["QueueArn"]

    @cached_property
    def queue_url(self) -> str:
        return self._url(self.names.tasks)

    @cached_property
    def dead_letters_url(self) -> str:
        return self._url(self.names.dead_letters)

    @property
    def environment(self) -> dict[str, str]:
        """Return the environment of a worker of this harness."""
        return {
            **self.place.environment,
            "STAGE": self.place.stage,
            "TENANT_ID": TENANT,
            "AGENT_BACKEND": "offline",
            "SQS_QUEUE_URL": self.queue_url,
            "STATE_TABLE_NAME": self.names.state,
            "TASK_DEFINITIONS_TABLE": self.names.definitions,
            "EVENTBRIDGE_BUS_NAME": self.names.bus,
            "S3_BUCKET": self.names.bucket,
            "MESSAGE_STATUS_TABLE": self.names.message_status,
            "MESSAGE_COMPLETED_TABLE": self.names.message_completed,
        }

    def depth(self, url: str) -> Mapping[str, int]:
        """Return `waiting`, `hidden` and `delayed`, as SQS counts them."""
        counted = {
            "waiting": "ApproximateNumberOfMessages",
            "hidden": "ApproximateNumberOfMessagesNotVisible",
            "delayed": "ApproximateNumberOfMessagesDelayed",
        }
        found = self._attributes(url, *counted.values())
        return {ours: int(found[theirs]) for ours, theirs in counted.items()}

    def statuses(self) -> dict[str, Item]:
        return {item["message_id"]: item for item in self.items(self.names.message_status)}

    def completed(self) -> dict[str, Item]:
        return {item["message_id"]: item for item in self.items(self.names.message_completed)}

    def entities(self) -> dict[str, Item]:
        return {item["entity_id"]: item for item in self.items(self.names.entities)}

    def tasks(self) -> Sequence[Task]:
        """Return them as their control items have them."""
        found = [i for i in self.items(self.names.state) if i["SK"].startswith(TASK_PREFIX)]
        return [task_from(item, JobRef(TENANT, item["PK"].rpartition("#")[2])) for item in found]

    def parked(self) -> list[str]:
        """The keys of the parked messages."""
        s3 = self.place.client("s3")
        pages = s3.get_paginator("list_objects_v2").paginate(
            Bucket=self.names.bucket, Prefix=PARKED_PREFIX
        )
        return [found["Key"] for page in pages for found in page.get("Contents", [])]

    def dead_letters(self) -> list[str]:
        """The ids, as their producer gave them, of what ended among the dead letters."""
        sqs, found = self.place.client("sqs"), []
        asked = {"QueueUrl": self.dead_letters_url, "MessageAttributeNames": ["All"]}
        while messages := sqs.receive_message(
            **asked, MaxNumberOfMessages=10, WaitTimeSeconds=1
        ).get("Messages"):
            found += [message["MessageAttributes"][REQUEST_ID_ATTRIBUTE] for message in messages]
        return [attribute["StringValue"] for attribute in found]

    def items(self, table: str) -> Iterator[Item]:
        pages = self.place.client("dynamodb").get_paginator("scan")
        for page in pages.paginate(TableName=table, ConsistentRead=True):
            yield from map(deserialized, page["Items"])

    def _url(self, name: str) -> str:
        url: str = self.place.client("sqs").get_queue_url(QueueName=name)["QueueUrl"]
        return url

    def _attributes(self, url: str, *names: str) -> dict[str, str]:
        sqs = self.place.client("sqs")
        answer = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=list(names))
        found: dict[str, str] = answer["Attributes"]
        return found


@contextmanager
def a_harness(
    place: Place, names: Names, *, say: Say, planted: str = "", keep: bool = False
) -> Iterator[Harness]:
    """Remove the harness at the end of the block, also after an error, unless it is to stay."""
    harness = Harness(place=place, names=names, planted=planted)
    try:
        harness.build(redrive=planted != "no-redrive")
        yield harness
    finally:
        if keep:
            say(f"Not removed: everything whose name begins with {names.prefix}")
        else:
            remove_harness(place, names)


def _table(name: str, key: Sequence[str]) -> dict[str, Any]:
    kinds = zip(key, ("HASH", "RANGE"), strict=False)
    return {
        "TableName": name,
        "BillingMode": "PAY_PER_REQUEST",
        "KeySchema": [{"AttributeName": part, "KeyType": kind} for part, kind in kinds],
        "AttributeDefinitions": [{"AttributeName": part, "AttributeType": "S"} for part in key],
    }


def _make_bucket(s3: Any, name: str) -> None:
    region = s3.meta.region_name
    where = {"CreateBucketConfiguration": {"LocationConstraint": region}}
    s3.create_bucket(Bucket=name, **({} if region == "us-east-1" else where))
