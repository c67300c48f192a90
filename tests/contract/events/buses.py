"""Buses with an observer behind them: in memory, or a rule and a queue in a cloud."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from botocore.exceptions import ClientError

from switchyard.adapters.eventbridge import EventBridgeBus, EventOverflow
from switchyard.adapters.system import SystemClock
from switchyard.contracts.events import DETAIL_TYPE
from switchyard.ports import EventBus
from switchyard.testing.transport import MemoryBlobStore, MemoryBus
from tests.contract.backends import a_bucket
from tests.contract.clouds import Cloud
from tests.fakes.tables import BUCKET

PATIENCE_SECONDS = 20
BYTES_PER_CALL = 256 * 1024

Envelope = dict[str, Any]
Entry = dict[str, Any]


@dataclass(frozen=True)
class ObservedBus:
    bus: EventBus
    overflow: EventOverflow
    arrived: Callable[[int], list[Envelope]]
    """Waits for so many, and for one too many that is there already."""


def in_memory_bus() -> ObservedBus:
    bus = MemoryBus()
    return ObservedBus(
        bus,
        EventOverflow(MemoryBlobStore(), BUCKET),
        arrived=lambda _: [{"detail": event.detail()} for event in bus.events],
    )


@dataclass
class UnreliableEvents:
    """EventBridge's client, refusing some entries, and remembering what it was asked.

    Like AWS, and unlike either cloud, it takes no call over 256 KB.
    """

    client: Any
    refused: Callable[[int, Entry], bool] = lambda _call, _entry: False
    calls: list[Sequence[Entry]] = field(default_factory=list)

    def put_events(self, *, Entries: Sequence[Entry]) -> Any:  # noqa: N803
        size = sum(map(_bytes_of, Entries))
        if size > BYTES_PER_CALL:
            refusal: Any = {"Error": {"Code": "ValidationException", "Message": f"{size} bytes"}}
            raise ClientError(refusal, "PutEvents")
        number = len(self.calls)
        self.calls.append(Entries)
        verdicts = [self.refused(number, entry) for entry in Entries]
        accepted = [entry for entry, no in zip(Entries, verdicts, strict=True) if not no]
        answers = iter(self.client.put_events(Entries=accepted)["Entries"] if accepted else [])
        results = [{"ErrorCode": "ThrottlingException"} if no else next(answers) for no in verdicts]
        return {"FailedEntryCount": sum(verdicts), "Entries": results}


@dataclass(frozen=True)
class CloudBus(ObservedBus):
    events: UnreliableEvents


def in_the_cloud_bus(cloud: Cloud) -> CloudBus:
    events, name = UnreliableEvents(cloud.client("events")), cloud.fresh("harness")
    queue_url = _observer(cloud, name)
    overflow = EventOverflow(a_bucket(cloud), BUCKET)
    return CloudBus(
        bus=EventBridgeBus(events, name, overflow),
        overflow=overflow,
        arrived=lambda count: _received(cloud.client("sqs"), queue_url, count),
        events=events,
    )


def _observer(cloud: Cloud, bus_name: str) -> str:
    events, sqs = cloud.client("events"), cloud.client("sqs")
    events.create_event_bus(Name=bus_name)
    queue_url: str = sqs.create_queue(QueueName=cloud.fresh("observer"))["QueueUrl"]
    attributes = sqs.get_queue_attributes(QueueUrl=queue_url, AttributeNames=["QueueArn"])
    pattern = json.dumps({"detail-type": [DETAIL_TYPE]})
    events.put_rule(Name="all", EventBusName=bus_name, EventPattern=pattern)
    target = {"Id": "observer", "Arn": attributes["Attributes"]["QueueArn"]}
    events.put_targets(Rule="all", EventBusName=bus_name, Targets=[target])
    return queue_url


def _bytes_of(entry: Entry) -> int:
    """Count as PutEvents does: 14 for the time, and the text of the rest."""
    return 14 + sum(len(entry[name].encode()) for name in ("Source", "DetailType", "Detail"))


def _received(sqs: Any, queue_url: str, count: int) -> list[Envelope]:
    clock = SystemClock()
    deadline = clock.monotonic() + PATIENCE_SECONDS
    received: list[Envelope] = []
    while True:
        answer = sqs.receive_message(QueueUrl=queue_url, MaxNumberOfMessages=10)
        messages = answer.get("Messages", [])
        received += [json.loads(message["Body"]) for message in messages]
        if not messages and len(received) >= count:
            return received
        assert clock.monotonic() < deadline, f"{len(received)} of {count} came"
