"""What nobody could handle, on in-memory twins: kept whole, and told in words that are safe."""

import json
from typing import Any

import pytest

from switchyard.adapters.memory.clock import ManualClock
from switchyard.adapters.memory.transport import MemoryBlobStore
from switchyard.contracts.undeliverable import MAX_REASON, DeadLetter
from switchyard.domain.errors import Unavailable
from switchyard.usecases.letters.keep_undeliverable import UndeliverableKeeper
from tests.builders import JOB_ID, NOW_MS, TENANT

QUEUE_ARN = "arn:aws:sqs:eu-west-1:123456789012:event-queue-dlq-test"
LAST_MS_OF_A_DAY = 1_799_971_199_999  # 2027-01-14 in UTC, already the 15th further east
REQUEST_ID = f"{JOB_ID}__scrape-store"
EVENT = {"eventType": "Task Completed", "entityId": REQUEST_ID, "tenantId": TENANT}


def a_letter(body: str = "{}", *, notes: dict[str, str] | None = None, **system: str) -> DeadLetter:
    return DeadLetter.model_validate(
        {
            "messageId": "message-1",
            "receiptHandle": "no business of ours",
            "eventSourceARN": QUEUE_ARN,
            "attributes": {
                "SentTimestamp": str(LAST_MS_OF_A_DAY),
                "ApproximateFirstReceiveTimestamp": str(LAST_MS_OF_A_DAY + 7),
                "ApproximateReceiveCount": "1",
            }
            | system,
            "messageAttributes": {
                name: {"stringValue": value, "dataType": "String"}
                for name, value in (notes or {}).items()
            },
            "body": body,
        }
    )


def an_event(**detail: Any) -> str:
    return json.dumps({"detail-type": "log-event", "detail": EVENT | detail})


@pytest.fixture
def blobs() -> MemoryBlobStore:
    return MemoryBlobStore()


@pytest.fixture
def keeper(blobs: MemoryBlobStore) -> UndeliverableKeeper:
    return UndeliverableKeeper(blobs=blobs, clock=ManualClock(NOW_MS))


def test_everything_needed_to_send_it_again_is_kept(
    keeper: UndeliverableKeeper, blobs: MemoryBlobStore
) -> None:
    letter = a_letter(an_event(), notes={"RULE_ARN": "arn:of:a:rule"})
    key = keeper.keep(letter).key
    assert key == "undeliverable/event-queue-dlq-test/2027-01-14/message-1.json"
    assert json.loads(blobs.blobs[key]) == {
        "schemaVersion": 1,
        "queueArn": QUEUE_ARN,
        "messageId": "message-1",
        "sentAt": LAST_MS_OF_A_DAY,
        "receivedAt": LAST_MS_OF_A_DAY + 7,
        "keptAt": NOW_MS,
        "attributes": letter.attributes,
        "messageAttributes": {"RULE_ARN": {"stringValue": "arn:of:a:rule", "dataType": "String"}},
        "body": an_event(),
    }
    assert blobs.content_types[key] == "application/json"


def test_a_second_delivery_on_another_day_lands_on_the_same_key(
    blobs: MemoryBlobStore,
) -> None:
    clock = ManualClock(NOW_MS)
    keeper = UndeliverableKeeper(blobs=blobs, clock=clock)
    keeper.keep(a_letter("once"))
    clock.advance(3 * 86_400)
    keeper.keep(a_letter("once", ApproximateReceiveCount="2"))
    assert len(blobs.blobs) == 1


def test_an_event_is_told_by_its_names(keeper: UndeliverableKeeper) -> None:
    kept = keeper.keep(a_letter(an_event()))
    assert kept.queue == "event-queue-dlq-test"
    assert kept.subject is not None
    assert (kept.subject.event_type, kept.subject.entity_id, kept.subject.tenant_id) == (
        "Task Completed",
        REQUEST_ID,
        TENANT,
    )


@pytest.mark.parametrize(
    "body",
    [
        "",
        "not json",
        "[1]",
        "{}",
        '{"detail": "text"}',
        '{"detail": {"entityId": "x"}}',
        '{"detail": {"eventType": "Task\\nCompleted"}}',
        '{"detail": {"eventType": ' + "[" * 100_000 + "]" * 100_000 + "}}",
        '{"detail": {"eventType": "\\ud800"}}',
        an_event(eventType="x" * 65),
    ],
    ids=range(10),
)
def test_a_body_that_is_not_an_event_is_kept_as_it_is(
    keeper: UndeliverableKeeper, blobs: MemoryBlobStore, body: str
) -> None:
    kept = keeper.keep(a_letter(body))
    assert kept.subject is None
    assert json.loads(blobs.blobs[kept.key])["body"] == body


@pytest.mark.parametrize("wrong", ["a\nb", "a\x1b[31m", "../x", "a\n", "x" * 257, 7, None, ["a"]])
def test_a_name_that_cannot_be_one_is_not_told(keeper: UndeliverableKeeper, wrong: object) -> None:
    kept = keeper.keep(a_letter(an_event(entityId=wrong, tenantId=wrong)))
    assert kept.subject is not None
    assert (kept.subject.event_type, kept.subject.entity_id) == ("Task Completed", None)
    assert kept.subject.tenant_id is None


def test_the_reason_is_what_eventbridge_noted(keeper: UndeliverableKeeper) -> None:
    notes = {"ERROR_CODE": "NO_PERMISSIONS", "ERROR_MESSAGE": "access denied", "RULE_ARN": "r"}
    assert keeper.keep(a_letter(notes=notes)).reason == "NO_PERMISSIONS: access denied"


def test_the_reason_is_one_short_line(keeper: UndeliverableKeeper) -> None:
    steering = "a\r\nb\x1b[2J\u2028c\x85d\u202e"
    assert keeper.keep(a_letter(notes={"ERROR_MESSAGE": steering})).reason == "a b[2J cd"
    long = keeper.keep(a_letter(notes={"ERROR_MESSAGE": "x" * 5000}))
    assert len(long.reason) == MAX_REASON


def test_an_attribute_without_text_gives_no_reason_and_is_kept(
    keeper: UndeliverableKeeper, blobs: MemoryBlobStore
) -> None:
    binary = {"ERROR_CODE": {"binaryValue": "AAE=", "dataType": "Binary"}}
    kept = keeper.keep(a_letter().model_copy(update={"message_attributes": binary}))
    assert kept.reason == "nobody noted why"
    assert json.loads(blobs.blobs[kept.key])["messageAttributes"] == binary


def test_what_a_function_failed_with_names_its_queue(keeper: UndeliverableKeeper) -> None:
    source = "arn:aws:sqs:eu-west-1:123456789012:event-queue-test"
    letter = a_letter(DeadLetterQueueSourceArn=source)
    assert keeper.keep(letter).reason == "received in vain from event-queue-test"


def test_what_was_put_there_by_hand_has_no_reason(keeper: UndeliverableKeeper) -> None:
    assert keeper.keep(a_letter()).reason == "nobody noted why"


def test_nothing_is_told_that_was_not_kept() -> None:
    class Closed(MemoryBlobStore):
        def put(self, key: str, body: bytes, *, content_type: str) -> None:
            raise Unavailable("the bucket does not answer")

    with pytest.raises(Unavailable):
        UndeliverableKeeper(blobs=Closed(), clock=ManualClock()).keep(a_letter())
