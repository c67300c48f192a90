"""The spans of a batch of events are sent together, or not at all."""

from collections.abc import Sequence
from dataclasses import replace

from switchyard.contracts.events import ArrivedEvent
from switchyard.domain.errors import Unavailable
from switchyard.domain.measuring.spans import Span
from switchyard.domain.states import TaskState
from switchyard.domain.tasks.task import Task
from switchyard.ports import SpanExporter
from switchyard.testing import ManualClock, MemoryHarness
from switchyard.testing.counters import MemorySpanExporter
from switchyard.usecases.events import task_events
from switchyard.usecases.measuring.export_spans import Spans
from tests.builders import NOW_MS, a_task, an_emitter

ENDED = [
    a_task(name, state=TaskState.COMPLETED, owner="w/1", started_at_ms=NOW_MS) for name in "ab"
]


class Down:
    def export(self, spans: Sequence[Span]) -> None:
        raise Unavailable(f"{len(spans)} were not taken")


def noted(exporter: SpanExporter | None, *tasks: Task) -> Spans:
    harness = MemoryHarness(ManualClock())
    an_emitter(harness.bus).emit(*[task_events.settled(task, output=None) for task in tasks])
    spans = Spans(exporter)
    for event in harness.bus.events:
        spans.note(ArrivedEvent.model_validate(event.detail()))
    return spans


def test_what_ended_is_exported_once() -> None:
    exporter = MemorySpanExporter()

    for _ in range(2):
        assert noted(exporter, *ENDED, *ENDED).export() is None

    names = [span.attributes["switchyard.request_id"] for span in exporter.spans.values()]
    assert names == [task.ref.request_id for task in ENDED]


def test_an_outage_is_returned_and_not_raised() -> None:
    assert noted(Down(), *ENDED).export() == "2 were not taken"


def test_where_nothing_ended_nobody_is_asked() -> None:
    waiting = replace(ENDED[0], owner=None, state=TaskState.CANCELLED)

    assert noted(Down(), waiting).export() is None


def test_without_an_exporter_there_is_nothing_to_do() -> None:
    assert noted(None, *ENDED).export() is None
