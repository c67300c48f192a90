"""The contract of `TaskQueue` and `TaskInbox`."""

import json

import pytest

from switchyard.contracts.messages import TaskMessage, parse_message
from switchyard.domain.errors import Unavailable
from switchyard.domain.measuring.spans import waking_context
from switchyard.ports import Received
from tests.builders import JOB, TRACEPARENT, a_task
from tests.contract.queues.backends import QueueBackend

PATIENCE_SECONDS = 20


def receive_all(backend: QueueBackend, *, visibility_seconds: int = 60) -> list[Received]:
    received: list[Received] = []
    while batch := backend.queue.receive(
        at_most=10, wait_seconds=0, visibility_seconds=visibility_seconds
    ):
        received += batch
    return received


def send_one(backend: QueueBackend, *, delay_seconds: int = 0) -> None:
    backend.queue.send([TaskMessage.to(JOB.task("a"), run=1)], delay_seconds=delay_seconds)


def receive_one(backend: QueueBackend, *, visibility_seconds: int = 60) -> Received:
    """Receive a message as soon as there is one."""
    deadline = backend.clock.monotonic() + PATIENCE_SECONDS
    while not (
        received := backend.queue.receive(
            at_most=1, wait_seconds=0, visibility_seconds=visibility_seconds
        )
    ):
        assert backend.clock.monotonic() < deadline, "nothing came"
        backend.clock.sleep(0.1)
    (message,) = received
    assert isinstance(message, Received)
    return message


def test_messages_are_received_hidden_and_deleted(backend: QueueBackend) -> None:
    sent = [TaskMessage.to(JOB.task(f"t{n}"), run=1) for n in range(25)]
    backend.queue.send(sent)
    received = receive_all(backend)
    names = sorted(TaskMessage.model_validate_json(message.body).task_id for message in received)
    assert names == sorted(message.task_id for message in sent)
    assert json.loads(received[0].body)["schema"] == 1
    for message in received:
        backend.queue.extend(message, seconds=30)
        backend.queue.delete(message)
    assert receive_all(backend) == []


def test_a_message_brings_the_trace_of_its_task_beside_its_body(backend: QueueBackend) -> None:
    task = a_task("a", trace=TRACEPARENT)
    backend.queue.send([TaskMessage.waking(task)])
    message = receive_one(backend)
    assert {name: found.string_value for name, found in message.attributes.items()} == {
        "requestId": task.ref.request_id,
        "traceparent": waking_context(task),
        "group": "default",
    }
    assert "4bf92f" not in message.body
    assert parse_message(message, tenant=None) == TaskMessage.to(task.ref, run=1)


def test_a_message_that_is_let_go_is_there_for_the_next_at_once(backend: QueueBackend) -> None:
    send_one(backend)
    first = receive_one(backend)
    assert receive_all(backend) == []
    backend.queue.extend(first, seconds=0)
    again = receive_one(backend)
    assert (again.body, again.message_id) == (first.body, first.message_id)
    assert again.receipt != first.receipt


def test_a_message_that_nobody_deletes_comes_again_and_not_before_its_time(
    backend: QueueBackend,
) -> None:
    send_one(backend)
    began = backend.clock.monotonic()
    first = receive_one(backend, visibility_seconds=1)
    again = receive_one(backend)
    assert backend.clock.monotonic() - began >= 0.9
    assert again.message_id == first.message_id
    backend.queue.delete(again)
    assert receive_all(backend) == []


def test_an_extended_message_stays_hidden_past_its_first_visibility(backend: QueueBackend) -> None:
    send_one(backend)
    backend.queue.extend(receive_one(backend, visibility_seconds=1), seconds=60)
    backend.clock.sleep(1.2)
    assert receive_all(backend) == []


def test_a_delayed_message_comes_after_its_delay(backend: QueueBackend) -> None:
    began = backend.clock.monotonic()
    send_one(backend, delay_seconds=1)
    receive_one(backend)
    assert backend.clock.monotonic() - began >= 0.9


def test_extending_a_message_that_is_gone_is_an_outage_and_no_bug(backend: QueueBackend) -> None:
    """Another worker found the task busy and deleted the message: nothing has to stop for that."""
    send_one(backend)
    message = receive_one(backend)
    backend.queue.delete(message)
    with pytest.raises(Unavailable):
        backend.queue.extend(message, seconds=30)


def test_a_zombie_deletes_with_an_old_receipt(backend: QueueBackend) -> None:
    """AWS says that it worked, and the message may be gone or not: nothing may rely on either."""
    send_one(backend)
    old = receive_one(backend)
    backend.queue.extend(old, seconds=0)
    held = receive_one(backend)
    if backend.accepts_stale_receipts:
        backend.queue.delete(old)
        backend.queue.delete(held)
    else:
        with pytest.raises(Unavailable):
            backend.queue.delete(old)
        backend.queue.extend(held, seconds=30)


def test_a_message_is_deleted_twice(backend: QueueBackend) -> None:
    send_one(backend)
    message = receive_one(backend)
    backend.queue.delete(message)
    if backend.accepts_stale_receipts:
        backend.queue.delete(message)
    else:
        with pytest.raises(Unavailable):
            backend.queue.delete(message)
