"""A Lambda function that outlives the visibility of its queue, and yet gets each message once."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from switchyard.adapters.system import SystemClock
from tests.e2e.conftest import ROOT, RunningCloud
from tests.e2e.functions.archives import zipped

VISIBILITY_SECONDS = 2
WORK_SECONDS = 7
NEIGHBOUR = "switchyard-local-sweep"
"""A function of ours, for the layers it runs with."""
HANDLER = ROOT / "examples" / "long_running_function" / "handler.py"
COUNTING = '''
import json, os
import boto3
import handler as example

def handler(event, context):
    """The example, and a note for every delivery."""
    boto3.client("sqs").send_message(QueueUrl=os.environ["NOTES_URL"], MessageBody="delivered")
    example.handler(event, context)
    boto3.client("sqs").send_message(QueueUrl=os.environ["NOTES_URL"], MessageBody="done")
'''


@dataclass
class Function:
    cloud: RunningCloud
    queue_url: str
    notes_url: str

    def order(self) -> None:
        body = json.dumps({"seconds": WORK_SECONDS})
        self.cloud.client("sqs").send_message(QueueUrl=self.queue_url, MessageBody=body)

    def notes_until(self, *, done: int) -> list[str]:
        """What the function noted, until it is done so often and its queue is empty."""
        clock, notes = SystemClock(), list[str]()
        deadline = clock.monotonic() + 60
        while notes.count("done") < done or self._left():
            assert clock.monotonic() < deadline, notes
            notes += self._new_notes()
            clock.sleep(0.2)
        return notes + self._new_notes()

    def _new_notes(self) -> list[str]:
        answer = self.cloud.client("sqs").receive_message(
            QueueUrl=self.notes_url, MaxNumberOfMessages=10, VisibilityTimeout=600
        )
        return [message["Body"] for message in answer.get("Messages", [])]

    def _left(self) -> bool:
        counts = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"]
        answer = self.cloud.client("sqs").get_queue_attributes(
            QueueUrl=self.queue_url, AttributeNames=counts
        )
        return any(int(answer["Attributes"][name]) for name in counts)


@pytest.fixture
def functions(cloud: RunningCloud) -> Iterator[Any]:
    aws, sqs = cloud.client("lambda"), cloud.client("sqs")
    neighbour = aws.get_function(FunctionName=NEIGHBOUR)["Configuration"]
    made: list[tuple[str, str]] = []

    def make(name: str, *, interval_ms: int) -> Function:
        attributes = {"VisibilityTimeout": str(VISIBILITY_SECONDS)}
        queue_url = sqs.create_queue(QueueName=name, Attributes=attributes)["QueueUrl"]
        notes_url = sqs.create_queue(QueueName=f"{name}-notes")["QueueUrl"]
        variables = {
            "QUEUE_URL": queue_url,
            "NOTES_URL": notes_url,
            "SQS_HEARTBEAT_INTERVAL_MS": str(interval_ms),
        }
        aws.create_function(
            FunctionName=name,
            Runtime=neighbour["Runtime"],
            Role=neighbour["Role"],
            Handler="counting.handler",
            Code={"ZipFile": zipped({"handler.py": HANDLER.read_text(), "counting.py": COUNTING})},
            Layers=[layer["Arn"] for layer in neighbour["Layers"]],
            Timeout=60,
            Environment={"Variables": neighbour["Environment"]["Variables"] | variables},
        )
        mapping = aws.create_event_source_mapping(
            EventSourceArn=_arn(cloud, queue_url), FunctionName=name, BatchSize=1
        )
        made.append((name, mapping["UUID"]))
        return Function(cloud, queue_url, notes_url)

    yield make
    for name, mapping in made:
        aws.delete_event_source_mapping(UUID=mapping)
        aws.delete_function(FunctionName=name)


def test_a_message_whose_function_outlives_the_visibility_is_delivered_once(functions: Any) -> None:
    function = functions("patient", interval_ms=500)
    function.order()
    assert sorted(function.notes_until(done=1)) == ["delivered", "done"]


def test_without_a_beat_in_time_the_same_message_is_delivered_again(functions: Any) -> None:
    """The test above would notice a missing beat because of this."""
    function = functions("hasty", interval_ms=60_000)
    function.order()
    assert function.notes_until(done=2).count("delivered") >= 2


def _arn(cloud: RunningCloud, queue_url: str) -> str:
    answer = cloud.client("sqs").get_queue_attributes(
        QueueUrl=queue_url, AttributeNames=["QueueArn"]
    )
    arn: str = answer["Attributes"]["QueueArn"]
    return arn
