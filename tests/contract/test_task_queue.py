"""What both sides of every task queue promise."""

import json

import pytest

from switchyard.contracts.messages import TaskMessage, parse_task_message
from switchyard.domain.errors import Unavailable
from switchyard.ports import Received
from tests.builders import JOB
from tests.contract.conftest import Backend


def receive_all(backend: Backend) -> list[Received]:
    received: list[Received] = []
    while batch := backend.queue.receive(at_most=10, wait_seconds=0, visibility_seconds=60):
        received += batch
    return received


def test_messages_are_received_hidden_and_deleted(backend: Backend) -> None:
    sent = [TaskMessage.to(JOB.task(f"t{n}"), run=1) for n in range(12)]
    backend.queue.send(sent)
    received = receive_all(backend)
    names = sorted(parse_task_message(message.body).task_id for message in received)
    assert names == sorted(message.task_id for message in sent)
    assert json.loads(received[0].body)["schema"] == 1
    for message in received:
        backend.queue.extend(message, seconds=30)
        backend.queue.delete(message)
    assert receive_all(backend) == []


def test_extending_a_message_that_is_gone_is_an_outage_and_no_bug(backend: Backend) -> None:
    """Another worker found the task busy and deleted the message: nothing has to stop for that."""
    backend.queue.send([TaskMessage.to(JOB.task("a"), run=1)])
    (message,) = receive_all(backend)
    backend.queue.delete(message)
    with pytest.raises(Unavailable):
        backend.queue.extend(message, seconds=30)
