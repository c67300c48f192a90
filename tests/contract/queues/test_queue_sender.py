"""The contract of `QueueSender`."""

import base64

import pytest

from switchyard.contracts.messages import MessageAttribute
from switchyard.domain.errors import UnknownQueue
from tests.contract.queues.backends import QueueBackend

BINARY = base64.b64encode(bytes(range(256))).decode()


def test_a_message_arrives_with_its_attributes(backend: QueueBackend) -> None:
    attributes = {
        "requestId": MessageAttribute(data_type="String", string_value="order-1"),
        "bytes": MessageAttribute(data_type="Binary", binary_value=BINARY),
        "n": MessageAttribute(data_type="Number", string_value="7"),
    }
    body = "\tnot JSON \u00fc\n"
    before = backend.clock.now_ms()
    backend.queue_sender.send(backend.queue_name, body, attributes)
    (received,) = backend.queue.receive(at_most=1, wait_seconds=1, visibility_seconds=30)
    assert (received.body, dict(received.attributes)) == (body, attributes)
    assert before - 1000 <= received.sent_at_ms <= backend.clock.now_ms() + 1000


def test_a_message_without_attributes_has_none(backend: QueueBackend) -> None:
    backend.queue_sender.send(backend.queue_name, "x", {})
    (received,) = backend.queue.receive(at_most=1, wait_seconds=1, visibility_seconds=30)
    assert received.attributes == {}


def test_a_queue_that_is_not_there_is_named(backend: QueueBackend) -> None:
    with pytest.raises(UnknownQueue, match="there is no queue nobodys"):
        backend.queue_sender.send("nobodys", "x", {})
