"""Spans on their way to a collector."""

import socket
import time

import pytest

from switchyard.adapters.otlp import OtlpSpanExporter
from switchyard.contracts.otlp import headers_in
from switchyard.domain.errors import Unavailable
from switchyard.domain.measuring.spans import (
    Attempt,
    Ending,
    Lasted,
    Span,
    SpanStatus,
    attempt_span,
    job_span,
    job_span_id,
    trace_given,
)
from switchyard.domain.tasks.task import Usage
from tests.builders import JOB, NOW_MS, TENANT, TRACEPARENT
from tests.fakes.servers.otlp_receiver import OtlpReceiver, an_otlp_receiver, saying
from tests.fakes.servers.webhook_server import Answer, a_closed_port, status

TRACE_ID, CALLER = TRACEPARENT.split("-")[1:3]
TRACE = trace_given(JOB, TRACEPARENT)
LASTED = Lasted(start_ms=NOW_MS, end_ms=NOW_MS + 1_500)
RUN = job_span(
    JOB,
    run=1,
    total_tasks=1,
    trace=TRACE,
    lasted=LASTED,
    ending=Ending(outcome="completed", status=SpanStatus.OK),
)
FAILED = attempt_span(
    Attempt(
        ref=JOB.task("a"),
        run=1,
        definition="scrape",
        number=2,
        usage=Usage(input_tokens=2**53 + 1, cost_usd=0.5),
    ),
    trace=TRACE,
    lasted=LASTED,
    ending=Ending(outcome="failed", status=SpanStatus.ERROR, message="bo\u00f6m"),
)


def exported(receiver: OtlpReceiver, *spans: Span, headers: str = "") -> None:
    an_exporter(receiver.endpoint, headers=headers).export(spans)


def an_exporter(endpoint: str, *, headers: str = "", seconds: float = 2.0) -> OtlpSpanExporter:
    known = headers_in(headers)
    return OtlpSpanExporter(endpoint, headers=lambda: known, stage="test", seconds=seconds)


def test_spans_arrive_as_a_collector_expects_them() -> None:
    with an_otlp_receiver() as receiver:
        exported(receiver, RUN, FAILED)
        run, failed = receiver.spans()

    assert run == {
        "traceId": TRACE_ID,
        "spanId": job_span_id(JOB),
        "parentSpanId": CALLER,
        "name": "job",
        "kind": 1,
        "startTimeUnixNano": f"{NOW_MS}000000",
        "endTimeUnixNano": f"{NOW_MS + 1_500}000000",
        "status": {"code": 1},
        "attributes": {
            "switchyard.tenant": TENANT,
            "switchyard.job_id": JOB.job_id,
            "switchyard.run": 1,
            "switchyard.total_tasks": 1,
            "switchyard.outcome": "completed",
        },
        "resource": {"service.name": "switchyard", "deployment.environment.name": "test"},
    }
    assert failed["parentSpanId"] == run["spanId"]
    assert failed["status"] == {"code": 2, "message": "bo\u00f6m"}
    assert failed["attributes"]["gen_ai.usage.input_tokens"] == 2**53 + 1
    assert failed["attributes"]["switchyard.cost_usd"] == 0.5


def test_headers_are_sent_as_they_were_written_down() -> None:
    said = "x-team=web, authorization=Basic%20abc%3D,nonsense,=,bad=a%0d%0ab: c,content-type=x"
    with an_otlp_receiver() as receiver:
        exported(receiver, RUN, headers=said)
        [headers] = receiver.headers

    assert (headers["x-team"], headers["authorization"]) == ("web", "Basic abc=")
    assert headers["content-type"] == "application/json"
    assert not headers.keys() & {"nonsense", "bad", ""}


def test_a_slash_at_the_end_of_the_endpoint_does_no_harm() -> None:
    with an_otlp_receiver() as receiver:
        an_exporter(f"{receiver.endpoint}/").export([RUN])
        assert len(receiver.spans()) == 1


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        (status(500), "the collector answered 500"),
        (status(429), "the collector answered 429"),
        (status(302, Location="/v1/traces"), "the collector answered 302"),
        (
            saying({"partialSuccess": {"rejectedSpans": "1", "errorMessage": "too \u001b[1mold"}}),
            r"1 spans were refused: too \[1mold",
        ),
    ],
)
def test_spans_that_a_collector_refuses_are_reported_and_not_sent_again(
    answer: Answer, problem: str
) -> None:
    with an_otlp_receiver(answer) as receiver, pytest.raises(Unavailable, match=problem):
        exported(receiver, RUN)

    assert len(receiver.server.arrived) == 1


@pytest.mark.parametrize(
    "answer", [{"partialSuccess": {}}, {"partialSuccess": {"errorMessage": "hm"}}, [], "thanks"]
)
def test_who_takes_them_may_answer_as_it_likes(answer: object) -> None:
    with an_otlp_receiver(saying(answer)) as receiver:
        exported(receiver, RUN)


@pytest.mark.parametrize("endpoint", ["http://127.0.0.1:{port}", "http://", "http://["])
def test_a_collector_that_is_not_there_is_an_outage_that_names_no_key(endpoint: str) -> None:
    exporter = an_exporter(endpoint.format(port=a_closed_port()), headers="authorization=canary")

    with pytest.raises(Unavailable) as outage:
        exporter.export([RUN])

    assert "canary" not in str(outage.value)


def test_a_collector_that_does_not_answer_is_not_waited_for() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        exporter = an_exporter(f"http://127.0.0.1:{silent.getsockname()[1]}", seconds=0.1)
        began = time.monotonic()

        with pytest.raises(Unavailable, match="ReadTimeoutError"):
            exporter.export([RUN])

    assert time.monotonic() - began < 10
