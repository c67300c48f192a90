"""The measuring function as a schedule calls it, and what CloudWatch would read in its log."""

import json
from collections.abc import Callable
from dataclasses import replace
from types import ModuleType
from typing import Any

import pytest

from switchyard.adapters import aws
from switchyard.adapters.dynamodb.counters import DynamoDbCounters
from switchyard.adapters.dynamodb.table import DynamoDbTable
from switchyard.adapters.system import SystemClock
from switchyard.contracts.metrics import UNITS
from switchyard.domain.measuring.counts import MINUTE_MS, Counts, Spending, minute_of
from switchyard.testing import ManualClock
from tests.lambdas.conftest import FakeContext, load_handler

TICK = {"source": "aws.events", "detail-type": "Scheduled Event", "detail": {}}
OURS = {"stage": "test", "service": "test"}

Published = list[dict[str, Any]]
Measure = Callable[[int], Published]


@pytest.fixture
def now_ms() -> int:
    """CloudWatch takes no metrics of long ago: it is today."""
    return minute_of(SystemClock().now_ms())


@pytest.fixture
def module(cloud: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    dead = aws.client("sqs").create_queue(QueueName="dead")["QueueUrl"]
    monkeypatch.setenv("DEAD_LETTER_QUEUE_URLS", f"{dead},{cloud['DISPATCH_QUEUE_URL']}")
    aws.client("sqs").send_message(QueueUrl=dead, MessageBody="dead")
    return load_handler("measure")


@pytest.fixture
def measure(
    module: ModuleType, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Measure:
    """Run it at some time and read what it printed, without its cold start."""
    real = module.measurer()

    def measure(at_ms: int) -> Published:
        then = replace(real, clock=ManualClock(at_ms))
        monkeypatch.setattr(module, "measurer", lambda: then)
        module.handler(TICK, FakeContext())
        printed = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
        return [one for one in printed if "_aws" in one and "ColdStart" not in one]

    return measure


def names(published: dict[str, Any]) -> set[str]:
    (directive,) = published["_aws"]["CloudWatchMetrics"]
    assert directive["Namespace"] == "Switchyard"
    for metric in directive["Metrics"]:
        assert metric["Unit"] == UNITS[metric["Name"]]
    return {metric["Name"] for metric in directive["Metrics"]}


def dimensions(published: dict[str, Any]) -> dict[str, str]:
    (directive,) = published["_aws"]["CloudWatchMetrics"]
    (dimensions,) = directive["Dimensions"]
    return {name: published[name] for name in dimensions}


def counted(now_ms: int, minute: int, counts: Counts) -> None:
    table = DynamoDbTable(aws.client("dynamodb"), "state-test")
    DynamoDbCounters(table).add(now_ms + minute * MINUTE_MS, counts)


def test_all_numbers_are_published_under_their_names(measure: Measure, now_ms: int) -> None:
    spent = {"scrape": Spending(cost_micro_usd=1_500_000)}
    counts = Counts(claims=6, timed=1, processing_ms=100, completions=4, verified=3)
    counted(now_ms, -1, replace(counts, by_definition=spent))

    *flows, levels = measure(now_ms + 20_000)

    last = [flow for flow in flows if "definition" not in flow][-1]
    emitted = names(levels) | names(last)
    assert emitted == UNITS.keys() - {"cost_usd", "tokens"}
    assert len(emitted) == 13
    assert dimensions(levels) == dimensions(last) == OURS
    assert (levels["dlq_depth"], levels["consumer_count"]) == ([1], [0])
    assert (last["claim_rate"], last["avg_processing_time"]) == ([0.1], [100])
    assert (last["verified_share"], last["usd_per_verified"]) == ([0.75], [0.5])
    assert last["_aws"]["Timestamp"] == now_ms - MINUTE_MS


def test_money_and_tokens_are_published_by_definition(measure: Measure, now_ms: int) -> None:
    scrape = Spending(cost_micro_usd=1_500_000, input_tokens=7, output_tokens=1)
    spent = {"scrape": scrape, "cheap": Spending(cache_read_tokens=2)}
    counted(now_ms, -1, Counts(completions=1, by_definition=spent))

    published = measure(now_ms + 20_000)

    by_definition = {one["definition"]: one for one in published if "definition" in one}
    assert list(by_definition) == ["scrape", "cheap"]
    assert dimensions(by_definition["scrape"]) == OURS | {"definition": "scrape"}
    assert names(by_definition["scrape"]) == {"cost_usd", "tokens"}
    assert by_definition["scrape"]["cost_usd"] == [1.5]
    assert [one["tokens"] for one in by_definition.values()] == [[8], [2]]
    assert by_definition["scrape"]["_aws"]["Timestamp"] == now_ms - MINUTE_MS


def test_a_second_run_in_the_same_minute_publishes_no_money_twice(
    measure: Measure, now_ms: int
) -> None:
    spent = {"scrape": Spending(cost_micro_usd=1)}
    counted(now_ms, -1, Counts(completions=1, by_definition=spent))
    measure(now_ms + 20_000)

    (levels,) = measure(now_ms + 59_000)
    assert "queue_depth" in names(levels)

    flow, _ = measure(now_ms + 80_000)
    assert flow["_aws"]["Timestamp"] == now_ms
    assert flow["completion_rate"] == [0]
