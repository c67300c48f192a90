"""The contract of `SpanExporter`."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import pytest

from switchyard.adapters.otlp import OtlpSpanExporter
from switchyard.domain.measuring.spans import Ending, Lasted, Span, job_span, trace_given
from switchyard.ports import SpanExporter
from switchyard.testing.counters import MemorySpanExporter
from tests.builders import JOB, NOW_MS, TRACEPARENT
from tests.fakes.servers.otlp_receiver import an_otlp_receiver

SPANS = [
    job_span(
        JOB,
        run=run,
        total_tasks=1,
        trace=trace_given(JOB, TRACEPARENT),
        lasted=Lasted(start_ms=NOW_MS, end_ms=NOW_MS + run),
        ending=Ending(outcome="completed"),
    )
    for run in (1, 2, 3)
]


@dataclass
class Exporting:
    exporter: SpanExporter
    shown: Callable[[], set[tuple[str, str]]]
    """The ids of all spans that can be looked at."""


@pytest.fixture(params=["memory", "otlp"])
def exporting(request: pytest.FixtureRequest) -> Iterator[Exporting]:
    if request.param == "memory":
        memory = MemorySpanExporter()
        yield Exporting(memory, lambda: set(memory.spans))
        return
    with an_otlp_receiver() as receiver:
        exporter = OtlpSpanExporter(receiver.endpoint, headers=dict, stage="test")
        yield Exporting(
            exporter, lambda: {(span["traceId"], span["spanId"]) for span in receiver.spans()}
        )


def ids(spans: Sequence[Span]) -> set[tuple[str, str]]:
    return {(span.trace_id, span.span_id) for span in spans}


def test_spans_are_shown_all_together(exporting: Exporting) -> None:
    exporting.exporter.export(SPANS)
    assert exporting.shown() == ids(SPANS)


def test_a_span_that_comes_again_is_the_same_one(exporting: Exporting) -> None:
    exporting.exporter.export(SPANS[:2])
    exporting.exporter.export([replace(SPANS[1], name="again"), SPANS[2]])
    assert exporting.shown() == ids(SPANS)
