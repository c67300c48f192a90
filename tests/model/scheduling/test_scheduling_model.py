"""A slice of the model of tokens, index and limits; each new guard that it can see is needed."""

from dataclasses import replace

import pytest

from switchyard.domain.transition import Transition
from tests.model.scheduling.configurations import CONFIGURATIONS
from tests.model.scheduling.explorer import Configuration, Explorer

STATES = 1_500
CONFIGURATION = {one.name: one for one in CONFIGURATIONS}
WHOLE = -1
"""All conditions: with a limit of one, that there is a holder is that it is full."""
NEEDED = {
    ("take_place", 0, "a limit"): "more have a place than the limit allows",
    ("add_waiter", WHOLE, "a limit"): "a task waits for a place, and one is free",
    ("stay_idle", 0, "left behind"): "runs without a place",
    ("enter_ready", 0, "retries"): "has settled, and is proposed",
    ("enter_ready", 2, "retries"): "a task whose lease is live was proposed",
}
"""A transition, the place of one of its conditions, and where its absence shows, and how.

Not seen here, since others refuse the same: the fence in `enter_ready` beside the state, state and
fence in `leave_ready` and `move_ready` beside the key as read, and that a holder has the place that
is taken away from it. `tests/contract/scheduling` looks at those.
"""


@pytest.mark.parametrize("configuration", CONFIGURATIONS, ids=lambda one: one.name)
def test_no_promise_is_broken_in_the_nearest_states(configuration: Configuration) -> None:
    assert Explorer(configuration).explore(at_most=STATES) is None


@pytest.mark.parametrize(("missing", "shown"), NEEDED.items(), ids=str)
def test_a_missing_guard_is_caught(missing: tuple[str, int, str], shown: str) -> None:
    name, place, where = missing

    def without(one: Transition) -> Transition:
        if one.name != name or place >= len(one.guard):
            return one
        if place == WHOLE:
            return replace(one, guard=())
        return replace(one, guard=one.guard[:place] + one.guard[place + 1 :])

    problem = Explorer(CONFIGURATION[where], without).explore(at_most=10_000)
    assert problem is not None
    assert shown in problem
