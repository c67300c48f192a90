"""An attempt's span: its child is told of it, and what is sent and told names the trace."""

import json
import time
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from switchyard.contracts.messages import MessageAttribute, TaskMessage
from switchyard.domain.ids import bare_task
from switchyard.domain.measuring.tracing import attempt_context, waking_context
from tests.builders import TENANT, TRACEPARENT, a_definition
from tests.worker.yard import WorkerYard
from worker.parent.supervision.children import Children, ToStart

TRACE_ID, CALLER = TRACEPARENT.split("-")[1:3]
BARE = bare_task(TENANT, "order-1")


@pytest.fixture
def sent(yard: WorkerYard, monkeypatch: pytest.MonkeyPatch) -> list[str | None]:
    """The `traceparent` of each message that the worker sends."""
    seen: list[str | None] = []
    send = yard.memory.queue.send

    def recording(messages: Sequence[TaskMessage], *, delay_seconds: int = 0) -> None:
        found = [message.attributes.get("traceparent") for message in messages]
        seen.extend(attribute.string_value if attribute else None for attribute in found)
        send(messages, delay_seconds=delay_seconds)

    monkeypatch.setattr(yard.memory.queue, "send", recording)
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
    yard: WorkerYard, environments: list[Any]
) -> None:
    yard.host_environment = {**yard.host_environment, "TRACEPARENT": "the host's own"}
    yard.add_task(trace=TRACEPARENT)

    yard.work(until=yard.quiet)

    span = attempt_context(yard.task())
    assert [environment["TRACEPARENT"] for environment in environments] == [span]
    assert json.loads(yard.blob("traces/session_trace.json"))["traceparent"] == span
    contexts = [event.context for event in yard.memory.bus.events]
    assert {(c.trace_id, c.parent_span_id) for c in contexts} == {(TRACE_ID, CALLER)}


def test_each_attempt_is_a_span_of_its_own_and_what_is_sent_names_the_job(
    yard: WorkerYard, environments: list[Any], sent: list[str | None]
) -> None:
    fail = {"category": "network", "times": 1}
    yard.add_task(given={"offline": {"fail": fail}}, trace=TRACEPARENT)
    assert sent == [None]  # that of an older sender

    yard.work(until=yard.quiet)

    first, second = [environment["TRACEPARENT"] for environment in environments]
    assert first != second == attempt_context(yard.task())
    assert sent == [None, waking_context(yard.task())]


def test_a_message_that_came_too_early_is_sent_again_with_the_trace(
    yard: WorkerYard, sent: list[str | None]
) -> None:
    yard.add_task(not_before_ms=round(time.time() * 1000) + 1_000, trace=TRACEPARENT)

    yard.work(until=yard.quiet)

    assert sent == [None, waking_context(yard.task())]


@pytest.mark.parametrize(
    ("traceparent", "adopted"), [(TRACEPARENT, TRACEPARENT), ("00-nonsense-01", None)]
)
def test_another_producers_task_is_adopted_with_its_trace(
    yard: WorkerYard, traceparent: str, adopted: str | None
) -> None:
    yard.memory.definitions.put(TENANT, "scrape", a_definition())
    attributes = {"requestId": "order-1", "traceparent": traceparent}
    yard.memory.queue.send_body(
        json.dumps({"name": "scrape"}),
        attributes={
            name: MessageAttribute(data_type="String", string_value=value)
            for name, value in attributes.items()
        },
    )

    yard.work(until=yard.quiet)

    assert yard.memory.state.tasks[BARE].trace == adopted
