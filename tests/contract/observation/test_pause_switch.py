"""The contract of `PauseSwitch`."""

from switchyard.domain.health.presence import Pause
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
