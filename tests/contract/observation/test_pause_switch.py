"""The contract of `PauseSwitch`."""

import pytest

from switchyard.domain.errors import Rejected
from switchyard.domain.health.presence import Pause
from switchyard.domain.scheduling.pauses import MAX_PAUSED_PARTS
from tests.builders import NOW_MS
from tests.contract.conftest import Backend


def test_at_first_nothing_is_paused(backend: Backend) -> None:
    assert backend.pause_switch.paused() is None


def test_a_pause_lasts_until_it_is_taken_back(backend: Backend) -> None:
    pause = backend.pause_switch.pause(now_ms=NOW_MS, reason="the model is down")

    assert pause == Pause(since_ms=NOW_MS, reason="the model is down")
    assert backend.pause_switch.paused() == pause
    backend.pause_switch.resume()
    assert backend.pause_switch.paused() is None


def test_of_two_who_pause_the_first_ones_reason_stays(backend: Backend) -> None:
    first = backend.pause_switch.pause(now_ms=NOW_MS, reason="the model is down")

    second = backend.pause_switch.pause(now_ms=NOW_MS + 1_000, reason="lunch")

    assert second == first == backend.pause_switch.paused()


def test_a_pause_needs_no_reason_and_has_none_of_an_earlier_one(backend: Backend) -> None:
    backend.pause_switch.pause(now_ms=NOW_MS, reason="the model is down")
    backend.pause_switch.resume()

    assert backend.pause_switch.pause(now_ms=NOW_MS + 1) == Pause(since_ms=NOW_MS + 1)
    assert backend.pause_switch.paused() == Pause(since_ms=NOW_MS + 1)


def test_to_resume_what_is_not_paused_does_no_harm(backend: Backend) -> None:
    backend.pause_switch.resume()
    backend.pause_switch.resume()

    assert backend.pause_switch.paused() is None


def test_parts_are_paused_and_resumed_one_by_one(backend: Backend) -> None:
    assert backend.pause_switch.paused_parts() == frozenset()
    for part in ("queue:slow", "tenant:acme", "tenant:acme"):
        backend.pause_switch.pause_part(part)
    assert backend.pause_switch.paused_parts() == {"queue:slow", "tenant:acme"}
    assert backend.pause_switch.paused() is None

    backend.pause_switch.resume_part("queue:slow")
    backend.pause_switch.resume_part("queue:slow")

    assert backend.pause_switch.paused_parts() == {"tenant:acme"}


def test_no_more_parts_are_paused_than_an_item_should_hold(backend: Backend) -> None:
    for number in range(MAX_PAUSED_PARTS):
        backend.pause_switch.pause_part(f"queue:q{number}")
    backend.pause_switch.pause_part("queue:q0")

    with pytest.raises(Rejected, match="at most 100 parts"):
        backend.pause_switch.pause_part("queue:one-more")
