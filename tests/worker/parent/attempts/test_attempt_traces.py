"""An attempt's span: its child is told of it, and what is sent and told names the trace."""

import json
import time
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from switchyard.contracts.messages import MessageAttribute, TaskMessage
from switchyard.domain.ids import bare_task
from switchyard.domain.measuring.spans import attempt_context, waking_context
from switchyard_worker.parent.supervision.children import Children, ToStart
from tests.builders import TENANT, TRACEPARENT, a_definition
from tests.worker.harness import WorkerHarness

TRACE_ID, CALLER = TRACEPARENT.split("-")[1:3]
BARE = bare_task(TENANT, "order-1")


@pytest.fixture
def sent(harness: WorkerHarness, monkeypatch: pytest.MonkeyPatch) -> list[str | None]:
    """The `traceparent` of each message that the worker sends."""
    seen: list[str | None] = []
    send = harness.memory.queue.send

    def recording(messages: Sequence[TaskMessage], *, delay_seconds: int = 0) -> None:
        found = [message.attributes.get("traceparent") for message in messages]
        seen.extend(attribute.string_value if attribute else None for attribute in found)
        send(messages, delay_seconds=delay_seconds)

    monkeypatch.setattr(harness.memory.queue, "send", recording)
    return seen


@pytest.fixture
def environments(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What children are started with."""
    seen: list[Any] = []
    running: Callable[[Children, ToStart], Any] = Children.running

    def recording(children: Children, wanted: ToStart) -> Any:
        seen.append(wanted.environment)
        return running(children, wanted)

    monkeypatch.setattr(Children, "running", recording)
    return seen


def test_the_child_its_trace_file_and_the_events_name_the_span(
    harness: WorkerHarness, environments: list[Any]
) -> None:
    harness.host_environment = {**harness.host_environment, "TRACEPARENT": "the host's own"}
    harness.add_task(trace=TRACEPARENT)

    harness.work(until=harness.quiet)

    span = attempt_context(harness.task())
    assert [environment["TRACEPARENT"] for environment in environments] == [span]
    assert json.loads(harness.blob("traces/session_trace.json"))["traceparent"] == span
    contexts = [event.context for event in harness.memory.bus.events]
    assert {(c.trace_id, c.parent_span_id) for c in contexts} == {(TRACE_ID, CALLER)}


def test_each_attempt_is_a_span_of_its_own_and_what_is_sent_names_the_job(
    harness: WorkerHarness, environments: list[Any], sent: list[str | None]
) -> None:
    fail = {"category": "network", "times": 1}
    harness.add_task(given={"offline": {"fail": fail}}, trace=TRACEPARENT)
    assert sent == [None]  # that of an older sender

    harness.work(until=harness.quiet)

    first, second = [environment["TRACEPARENT"] for environment in environments]
    assert first != second == attempt_context(harness.task())
    assert sent == [None, waking_context(harness.task())]


def test_a_message_that_came_too_early_is_sent_again_with_the_trace(
    harness: WorkerHarness, sent: list[str | None]
) -> None:
    harness.add_task(not_before_ms=round(time.time() * 1000) + 1_000, trace=TRACEPARENT)

    harness.work(until=harness.quiet)

    assert sent == [None, waking_context(harness.task())]


@pytest.mark.parametrize(
    ("traceparent", "adopted"), [(TRACEPARENT, TRACEPARENT), ("00-nonsense-01", None)]
)
def test_another_producers_task_is_adopted_with_its_trace(
    harness: WorkerHarness, traceparent: str, adopted: str | None
) -> None:
    harness.memory.definitions.put(TENANT, "scrape", a_definition())
    attributes = {"requestId": "order-1", "traceparent": traceparent}
    harness.memory.queue.send_body(
        json.dumps({"name": "scrape"}),
        attributes={
            name: MessageAttribute(data_type="String", string_value=value)
            for name, value in attributes.items()
        },
    )

    harness.work(until=harness.quiet)

    assert harness.memory.state.tasks[BARE].trace == adopted
