"""The worked example of a downstream effect: once, whatever is delivered how often."""

import pytest

from switchyard.domain.errors import LeaseLost
from switchyard.testing import ManualClock
from switchyard_scenarios.harness.harness import Harness
from switchyard_scenarios.harness.names import Names
from switchyard_scenarios.harness.place import Place
from switchyard_scenarios.switched.effects import MessageEffects
from tests.builders import NOW_MS

DIGEST = "sha256-of-the-body"


@pytest.fixture
def harness(moto_place: Place) -> Harness:
    harness = Harness(place=moto_place, names=Names.numbered(1))
    harness.build()
    return harness


@pytest.fixture
def effects(harness: Harness) -> MessageEffects:
    return MessageEffects(
        harness.place.client("dynamodb"),
        status_table=harness.names.message_status,
        completed_table=harness.names.message_completed,
        clock=ManualClock(NOW_MS),
    )


def begin(effects: MessageEffects, fence: int) -> None:
    effects.begin("m", fence=fence, payload_digest=DIGEST)


def complete(effects: MessageEffects, fence: int) -> bool:
    return effects.complete("m", fence=fence, payload_digest=DIGEST)


def test_a_message_is_started_then_completed_in_both_tables(
    harness: Harness, effects: MessageEffects
) -> None:
    begin(effects, 1)
    started = harness.statuses()["m"]
    assert complete(effects, 1)
    assert started == {
        "message_id": "m",
        "status": "STARTED",
        "attempts": 1,
        "fence": 1,
        "last_updated": "2027-01-15T08:00:00+00:00",
        "payload_digest": DIGEST,
    }
    assert harness.statuses()["m"] == started | {"status": "COMPLETED"}
    assert harness.completed()["m"] == {
        "message_id": "m",
        "processed_at": "2027-01-15T08:00:00+00:00",
        "payload_digest": DIGEST,
    }


def test_an_attempt_that_is_told_twice_counts_once(
    harness: Harness, effects: MessageEffects
) -> None:
    begin(effects, 1)
    begin(effects, 1)
    assert harness.statuses()["m"]["attempts"] == 1
    begin(effects, 2)
    assert harness.statuses()["m"]["attempts"] == 2


def test_an_effect_that_is_asked_for_again_happens_once(
    harness: Harness, effects: MessageEffects
) -> None:
    begin(effects, 1)
    assert complete(effects, 1)
    assert not complete(effects, 1)
    assert len(harness.completed()) == 1


def test_a_later_attempt_at_a_completed_message_is_counted_and_changes_nothing_else(
    harness: Harness, effects: MessageEffects
) -> None:
    begin(effects, 1)
    complete(effects, 1)
    begin(effects, 2)
    begin(effects, 2)
    assert not complete(effects, 2)
    assert not effects.fail("m", fence=2, reason="too late")
    row = harness.statuses()["m"]
    assert (row["status"], row["attempts"], row["fence"]) == ("COMPLETED", 2, 2)


def test_who_was_overtaken_writes_neither_table(harness: Harness, effects: MessageEffects) -> None:
    begin(effects, 1)
    begin(effects, 2)
    with pytest.raises(LeaseLost):
        complete(effects, 1)
    assert harness.completed() == {}
    assert harness.statuses()["m"]["status"] == "STARTED"


def test_an_attempt_that_comes_late_does_not_take_the_message_from_a_later_one(
    harness: Harness, effects: MessageEffects
) -> None:
    begin(effects, 2)
    begin(effects, 1)
    assert harness.statuses()["m"]["fence"] == 2
    assert complete(effects, 2)


def test_a_failure_is_told_with_its_reason_until_the_next_attempt(
    harness: Harness, effects: MessageEffects
) -> None:
    begin(effects, 1)
    assert effects.fail("m", fence=1, reason="no such store")
    row = harness.statuses()["m"]
    assert (row["status"], row["error_reason"], row["attempts"]) == ("FAILED", "no such store", 1)
    begin(effects, 2)
    row = harness.statuses()["m"]
    assert (row["status"], row["attempts"]) == ("STARTED", 2)
    assert "error_reason" not in row


def test_a_failure_of_an_earlier_attempt_is_not_told(
    harness: Harness, effects: MessageEffects
) -> None:
    begin(effects, 1)
    begin(effects, 2)
    assert not effects.fail("m", fence=1, reason="too late")
    assert harness.statuses()["m"]["status"] == "STARTED"


def test_a_message_is_refused_only_before_any_attempt(
    harness: Harness, effects: MessageEffects
) -> None:
    assert effects.refuse("stale", "too old", payload_digest=DIGEST)
    row = harness.statuses()["stale"]
    assert (row["status"], row["error_reason"], row["attempts"]) == ("FAILED", "too old", 0)
    begin(effects, 1)
    assert not effects.refuse("m", "too old", payload_digest=DIGEST)
    assert harness.statuses()["m"]["status"] == "STARTED"
