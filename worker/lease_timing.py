"""How long a lease is held, how often it is renewed, and when it counts as lost."""

import math
from dataclasses import dataclass

from switchyard.settings import WorkerSettings

LEASE_PER_EXTENSION = 1.5  # room for a late beat and for clocks that differ
KILL_SECONDS = 5.0
MARGIN_SECONDS = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaseTiming:
    lease_seconds: float
    beat_seconds: float
    kill_seconds: float
    """How long a child may take to stop before it is killed."""
    margin_seconds: float

    @classmethod
    def of(cls, settings: WorkerSettings) -> "LeaseTiming":
        """A short lease shortens what must happen before its end. Raise `ValueError`."""
        lease = LEASE_PER_EXTENSION * settings.visibility_extension_amount
        timing = cls(
            lease_seconds=lease,
            beat_seconds=settings.visibility_extension_interval / 1000,
            kill_seconds=min(KILL_SECONDS, lease / 6),
            margin_seconds=min(MARGIN_SECONDS, lease / 6),
        )
        if timing.beat_seconds >= timing.held_seconds:
            raise ValueError(
                f"VISIBILITY_EXTENSION_INTERVAL: {settings.visibility_extension_interval} ms is "
                f"too long for a lease of {lease:g} s (1.5 times VISIBILITY_EXTENSION_AMOUNT)"
            )
        return timing

    @property
    def lease_ms(self) -> int:
        return round(self.lease_seconds * 1000)

    @property
    def held_seconds(self) -> float:
        """Without a renewal for this long, the child has to be stopped."""
        return self.lease_seconds - self.kill_seconds - self.margin_seconds

    @property
    def visibility_seconds(self) -> int:
        """A little longer than the lease: who receives the message may take over at once."""
        return math.ceil(self.lease_seconds + self.margin_seconds)
