"""Children that outlive their killed workers: gone before anybody else runs their task."""

from tests.simulation.checker import Violation, violations
from tests.simulation.scripted.one_task import WAYS, OneTask, every_way
from tests.simulation.stage.workers import TIMING
from tests.simulation.weather import LONGEST_ORPHANED_SECONDS, Weather

FIVE_MINUTES = 300.0


def after_a_kill(way: int, *, orphaned: float) -> tuple[OneTask, list[Violation]]:
    """Kill a worker on its n-th way to a service; its task takes several leases."""
    one = OneTask(
        seed=way,
        seconds=3 * TIMING.lease_seconds,
        weather=Weather(orphaned=orphaned, clock_skew=FIVE_MINUTES),
        ahead=FIVE_MINUTES if way % 2 else -FIVE_MINUTES,
    )
    node = one.doomed.node
    node.fate[way] = lambda: node.kill("on purpose")
    one.run()
    return one, violations(one.harness)


@every_way
def test_what_a_killed_worker_leaves_is_gone_before_its_task_runs_again(way: int) -> None:
    _, found = after_a_kill(way, orphaned=LONGEST_ORPHANED_SECONDS)
    assert found == []


def test_a_child_that_nobody_ends_would_be_seen_beside_its_successor() -> None:
    """Before children ended with their workers, one ran on for 37 s."""
    found = [after_a_kill(way, orphaned=4 * TIMING.lease_seconds) for way in range(1, WAYS, 3)]
    beside = [one for one, texts in found if any("ran twice" in str(text) for text in texts)]
    assert beside
