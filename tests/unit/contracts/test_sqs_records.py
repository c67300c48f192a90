"""Queues are recognised by their names, also by those of a stage that release 0.1 deployed."""

import pytest

from switchyard.contracts.sqs_records import holds_dead_letters, source_queue


@pytest.mark.parametrize(
    ("dead_letters", "source"),
    [
        ("switchyard-dev-event-queue-dlq", "switchyard-dev-event-queue"),
        ("event-queue-dlq-dev", "event-queue-dev"),
        ("event-queue-dlq-eu-prod", "event-queue-eu-prod"),
    ],
)
def test_dead_letters_lead_back_to_their_queue(dead_letters: str, source: str) -> None:
    assert holds_dead_letters(dead_letters)
    assert source_queue(dead_letters) == source


@pytest.mark.parametrize("queue", ["switchyard-dev-task-queue", "task-queue-dev"])
def test_other_queues_hold_no_dead_letters(queue: str) -> None:
    assert not holds_dead_letters(queue)
    assert source_queue(queue) == queue
