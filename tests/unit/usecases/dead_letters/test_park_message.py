"""Parking dead letters, on in-memory twins: stored whole, and described in safe words."""

import json
from typing import Any

import pytest

from switchyard.contracts.parked_messages import event_in
from switchyard.contracts.sqs_records import MAX_REASON, DeadLetter
from switchyard.domain.errors import Unavailable
from switchyard.testing.clock import ManualClock
from switchyard.testing.transport import MemoryBlobStore
from switchyard.usecases.dead_letters.park_message import DeadLetterArchive
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
def archive(blobs: MemoryBlobStore) -> DeadLetterArchive:
    return DeadLetterArchive(blobs=blobs, clock=ManualClock(NOW_MS))


def test_everything_needed_to_send_it_again_is_stored(
    archive: DeadLetterArchive, blobs: MemoryBlobStore
) -> None:
    letter = a_letter(an_event(), notes={"RULE_ARN": "arn:of:a:rule"})
    key = archive.park(letter).key
    assert key == "parked/event-queue-dlq-test/2027-01-14/message-1.json"
    assert json.loads(blobs.blobs[key]) == {
        "schemaVersion": 1,
        "id": "message-1",
        "key": key,
        "queue": "event-queue-dlq-test",
        "sendTo": "event-queue-test",
        "reason": "no reason was noted",
        "sentAt": "2027-01-14T23:59:59.999000Z",
        "parkedAt": "2027-01-15T08:00:00Z",
        "attributes": letter.attributes,
        "messageAttributes": {
            "RULE_ARN": {"dataType": "String", "stringValue": "arn:of:a:rule", "binaryValue": None}
        },
        "body": an_event(),
    }
    assert blobs.content_types[key] == "application/json"


def test_a_second_delivery_on_another_day_lands_on_the_same_key(
    blobs: MemoryBlobStore,
) -> None:
    clock = ManualClock(NOW_MS)
    archive = DeadLetterArchive(blobs=blobs, clock=clock)
    archive.park(a_letter("once"))
    clock.advance(3 * 86_400)
    archive.park(a_letter("once", ApproximateReceiveCount="2"))
    assert len(blobs.blobs) == 1


def test_an_event_is_described_by_its_names(archive: DeadLetterArchive) -> None:
    parked = archive.park(a_letter(an_event()))
    assert parked.queue == "event-queue-dlq-test"
    event = event_in(parked.body)
    assert event is not None
    assert (event.event_type, event.entity_id, event.tenant_id) == (
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
def test_a_body_that_is_not_an_event_is_stored_as_it_is(
    archive: DeadLetterArchive, blobs: MemoryBlobStore, body: str
) -> None:
    parked = archive.park(a_letter(body))
    assert event_in(parked.body) is None
    assert json.loads(blobs.blobs[parked.key])["body"] == body


@pytest.mark.parametrize("wrong", ["a\nb", "a\x1b[31m", "../x", "a\n", "x" * 257, 7, None, ["a"]])
def test_a_name_that_cannot_be_one_is_left_out(archive: DeadLetterArchive, wrong: object) -> None:
    parked = archive.park(a_letter(an_event(entityId=wrong, tenantId=wrong)))
    event = event_in(parked.body)
    assert event is not None
    assert (event.event_type, event.entity_id) == ("Task Completed", None)
    assert event.tenant_id is None


def test_the_reason_is_what_eventbridge_noted(archive: DeadLetterArchive) -> None:
    notes = {"ERROR_CODE": "NO_PERMISSIONS", "ERROR_MESSAGE": "access denied", "RULE_ARN": "r"}
    assert archive.park(a_letter(notes=notes)).reason == "NO_PERMISSIONS: access denied"


def test_the_reason_is_one_short_line(archive: DeadLetterArchive) -> None:
    steering = "a\r\nb\x1b[2J\u2028c\x85d\u202e"
    assert archive.park(a_letter(notes={"ERROR_MESSAGE": steering})).reason == "a b[2J cd"
    long = archive.park(a_letter(notes={"ERROR_MESSAGE": "x" * 5000}))
    assert len(long.reason) == MAX_REASON


def test_an_attribute_without_text_gives_no_reason_and_is_stored(
    archive: DeadLetterArchive, blobs: MemoryBlobStore
) -> None:
    binary = {"ERROR_CODE": {"binaryValue": "AAE=", "dataType": "Binary"}}
    parked = archive.park(a_letter().model_copy(update={"message_attributes": binary}))
    assert parked.reason == "no reason was noted"
    assert json.loads(blobs.blobs[parked.key])["messageAttributes"] == {
        "ERROR_CODE": {"dataType": "Binary", "stringValue": None, "binaryValue": "AAE="}
    }


def test_what_a_function_failed_with_names_its_queue(archive: DeadLetterArchive) -> None:
    source = "arn:aws:sqs:eu-west-1:123456789012:event-queue-test"
    letter = a_letter(DeadLetterQueueSourceArn=source)
    assert archive.park(letter).reason == "received in vain from event-queue-test"


def test_what_was_put_there_by_hand_has_no_reason(archive: DeadLetterArchive) -> None:
    assert archive.park(a_letter()).reason == "no reason was noted"


def test_a_bucket_that_does_not_answer_is_no_success() -> None:
    class Closed(MemoryBlobStore):
        def put(self, key: str, body: bytes, *, content_type: str) -> None:
            raise Unavailable("the bucket does not answer")

    with pytest.raises(Unavailable):
        DeadLetterArchive(blobs=Closed(), clock=ManualClock()).park(a_letter())
