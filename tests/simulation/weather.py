"""What goes wrong in a simulated harness, and how often. A seed draws its own."""

import random
from dataclasses import dataclass, field, fields
from typing import Final

from tests.simulation.cloud.eventbridge import BusFaults
from tests.simulation.cloud.sqs import QueueFaults

FOREVER: Final = 4 * 3600.0
"""Longer than any harness is watched in bad weather."""

LONGEST_ORPHANED_SECONDS: Final = 2.5
"""What is left of a lease's margin of 5 s if two clocks are wrong by as much as they may be."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Weather:
    """Probabilities are per request unless something else is said."""

    throttled: float = 0.0
    """Refused before it had an effect."""
    answer_lost: float = 0.0
    """Requests that are carried out though their answer is lost."""
    late: float = 0.0
    """Done when nobody waits for its answer any more."""
    killed: float = 0.0
    frozen: float = 0.0
    conflict: float = 0.0
    """The share of two transactions at once that conflict."""
    index_lag: float = 0.0
    """Seconds, at most."""
    clock_skew: float = 0.0
    """Seconds, at most, either way, per node."""
    wake_ups_lost: float = 0.0
    """Events, on their way to the dispatcher."""
    stopped: float = 0.0
    """Workers asked to stop, per minute."""
    sick: float = 0.0
    """Workers whose disk fills up for some minutes, per minute."""
    orphaned: float = 0.0
    """Seconds, at most, that a child outlives its killed worker."""
    queue: QueueFaults = field(default_factory=QueueFaults)
    bus: BusFaults = field(default_factory=BusFaults)

    def __str__(self) -> str:
        said = {f.name: getattr(self, f.name) for f in fields(self)}
        said |= {f"queue.{f.name}": getattr(self.queue, f.name) for f in fields(self.queue)}
        said |= {f"bus.{f.name}": getattr(self.bus, f.name) for f in fields(self.bus)}
        bad = {n: v for n, v in said.items() if isinstance(v, float) and v}
        return ", ".join(f"{name} {value:.3g}" for name, value in bad.items()) or "calm"


CALM: Final = Weather()


def drawn(dice: random.Random) -> Weather:
    """Half of all faults are absent from a given harness, so that each is seen with and without."""

    def up_to(most: float) -> float:
        return dice.choice((0.0, dice.uniform(0, most)))

    return Weather(
        throttled=up_to(0.1),
        answer_lost=up_to(0.1),
        late=up_to(0.05),
        killed=up_to(0.01),
        frozen=up_to(0.01),
        conflict=up_to(0.1),
        index_lag=dice.choice((0.0, 5.0, 300.0, FOREVER)),
        clock_skew=dice.choice((0.0, 0.0, 300.0)),
        wake_ups_lost=up_to(0.3),
        stopped=up_to(0.5),
        queue=QueueFaults(lost=up_to(0.2), duplicated=up_to(0.3), late=up_to(0.3)),
        bus=BusFaults(refused=up_to(0.2), duplicated=up_to(0.3), late=up_to(0.1)),
        sick=up_to(0.3),
        orphaned=LONGEST_ORPHANED_SECONDS,
    )
