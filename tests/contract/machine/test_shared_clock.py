"""Clocks whose time may be compared with what another machine stored."""

import pytest

from switchyard.adapters.aws_time import AwsClock, AwsTime
from switchyard.adapters.system import SystemClock
from switchyard.ports import SharedClock
from switchyard.testing import ManualClock
from tests.simulation.kernel.node import Node
from tests.simulation.kernel.world import World

system = SystemClock()


def on_this_machine() -> SharedClock:
    """Return a clock as it is after an answer that came at once."""
    time = AwsTime(ticks=system.monotonic, wall=lambda: system.now_ms() / 1000)
    sent = system.monotonic()
    date = float(system.now_ms() // 1000)
    time.note(sent=sent, received=system.monotonic(), date=date)
    return AwsClock(time)


def simulated() -> SharedClock:
    world = World(seed=0)
    node = Node(world, "worker-1")
    assert node.aws_time is not None
    node.aws_time.note(sent=world.now, received=world.now, date=world.date_header())
    world.loop.close()
    return node


@pytest.fixture(params=[ManualClock, on_this_machine, simulated])
def clock(request: pytest.FixtureRequest) -> SharedClock:
    made: SharedClock = request.param()
    return made


def test_time_is_a_date_in_milliseconds(clock: SharedClock) -> None:
    assert clock.now_ms() > 1_700_000_000_000


def test_time_does_not_go_back(clock: SharedClock) -> None:
    looks = [clock.now_ms() for _ in range(100)]
    assert looks == sorted(looks)


def test_a_right_clock_is_not_corrected(clock: SharedClock) -> None:
    offset = clock.wall_offset()
    assert offset is not None
    assert abs(offset.ahead_ms) <= 1
    assert offset.error_ms <= 2_500
