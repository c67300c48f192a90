"""The contract of `EventBus`, and the requests that EventBridge gets."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from switchyard.adapters import pauses
from switchyard.adapters.eventbridge import MAX_DETAIL_BYTES
from switchyard.contracts.events import (
    DETAIL_TYPE,
    OVERFLOW,
    Context,
    Event,
    TaskCompleted,
    UsageFigures,
)
from switchyard.domain.backoff import Backoff
from switchyard.domain.errors import EventsNotAccepted
from tests.builders import JOB_ID, NOW_MS
from tests.contract.clouds import Cloud
from tests.contract.events.buses import CloudBus, ObservedBus, in_memory_bus, in_the_cloud_bus


@pytest.fixture(autouse=True)
def _no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pauses, "BACKOFF", Backoff(first=0.0, longest=0.0))


@pytest.fixture(params=["memory", "moto", "ministack"])
def observed(request: pytest.FixtureRequest) -> ObservedBus:
    if request.param == "memory":
        return in_memory_bus()
    return in_the_cloud_bus(request.getfixturevalue(request.param))


@pytest.fixture
def bridge(cloud: Cloud) -> CloudBus:
    return in_the_cloud_bus(cloud)


def completed(run: int = 1, *, output: Any = None) -> Event:
    return Event.of(
        TaskCompleted(
            request_id=f"{JOB_ID}__a",
            job_id=JOB_ID,
            run=run,
            output=output,
            duration_ms=1,
            exit_code=0,
            usage=UsageFigures(cost_usd=0.5),
        ),
        tenant="acme",
        app="shop",
        timestamp_ms=NOW_MS + 456,
        context=Context(environment="test", origin="test", worker_id="w"),
    )


def of_bytes(size: int) -> Event:
    """An event whose detail has exactly so many."""
    bare = json.dumps(completed(output="é").detail(), ensure_ascii=False, separators=(",", ":"))
    return completed(output="é" + "x" * (size - len(bare.encode())))


def by_run(envelopes: list[dict[str, Any]]) -> dict[int, Any]:
    assert len({e["detail"]["eventId"] for e in envelopes}) == len(envelopes)
    return {e["detail"]["properties"]["run"]: e["detail"] for e in envelopes}


def test_every_event_arrives_once_and_whole(observed: ObservedBus) -> None:
    sent = [completed(run, output={"n": [run, 1.5, "ü\n", None]}) for run in range(1, 26)]
    observed.bus.put(sent)
    arrived = by_run(observed.arrived(25))
    assert arrived == {event.properties.run: event.detail() for event in sent}


@pytest.mark.parametrize("size", [MAX_DETAIL_BYTES, MAX_DETAIL_BYTES + 1, 3_000_000])
def test_an_event_of_any_size_is_read_back_whole(observed: ObservedBus, size: int) -> None:
    sent = of_bytes(size)
    observed.bus.put([sent])
    (envelope,) = observed.arrived(1)
    detail = envelope["detail"]
    properties = observed.overflow.put_back(detail["properties"])
    assert {**detail, "properties": properties} == sent.detail()


@pytest.mark.parametrize(
    ("size", "moved"), [(MAX_DETAIL_BYTES, False), (MAX_DETAIL_BYTES + 1, True)]
)
def test_what_is_over_the_limit_goes_through_the_bucket(
    bridge: CloudBus, size: int, moved: bool
) -> None:
    bridge.bus.put([of_bytes(size)])
    (envelope,) = bridge.arrived(1)
    properties = envelope["detail"]["properties"]
    assert (OVERFLOW in properties, "output" in properties) == (moved, not moved)


def test_the_envelope_names_app_type_and_time(bridge: CloudBus, cloud: Cloud) -> None:
    bridge.bus.put([completed()])
    (envelope,) = bridge.arrived(1)
    assert (envelope["source"], envelope["detail-type"]) == ("task-workflow.shop", DETAIL_TYPE)
    ((entry,),) = bridge.events.calls
    assert entry["Time"] == datetime.fromtimestamp((NOW_MS + 456) / 1000, tz=UTC)
    emitted = datetime.fromisoformat(envelope["time"])
    sent_at = datetime.fromtimestamp(NOW_MS // 1000, tz=UTC)
    assert (emitted == sent_at) == cloud.keeps_event_times


def test_a_call_holds_ten_events_at_most_and_no_more_than_fits(bridge: CloudBus) -> None:
    small = [completed(run) for run in range(1, 13)]
    large = [completed(run, output="x" * 90_000) for run in range(13, 18)]
    bridge.bus.put([*small, *large])
    assert [len(call) for call in bridge.events.calls] == [10, 4, 2, 1]
    assert len(bridge.arrived(17)) == 17


def test_refused_events_alone_are_sent_again(bridge: CloudBus) -> None:
    bridge.events.refused = lambda call, entry: call == 0 and '"run":2,' in entry["Detail"]
    bridge.bus.put([completed(run) for run in (1, 2, 3)])
    first, second = bridge.events.calls
    assert second == [first[1]]
    assert sorted(by_run(bridge.arrived(3))) == [1, 2, 3]


def test_the_error_says_how_many_events_were_never_accepted(bridge: CloudBus) -> None:
    bridge.events.refused = lambda _call, entry: '"run":1,' not in entry["Detail"]
    with pytest.raises(EventsNotAccepted, match="refused 2 events"):
        bridge.bus.put([completed(run) for run in (1, 2, 3)])
    assert [len(call) for call in bridge.events.calls] == [3, 2, 2, 2]
    assert list(by_run(bridge.arrived(1))) == [1]
