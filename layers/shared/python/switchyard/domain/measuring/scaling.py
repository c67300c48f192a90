"""How many workers a backlog calls for, and when to come to that number.

The steps of the deployed service and the supervisor of the local cloud go by the same policy.
"""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True, kw_only=True)
class ScalingPolicy:
    min_workers: int = 0
    max_workers: int = 5
    target_per_worker: int = 20
    """So many messages, waiting or in flight, are one worker's share."""
    scale_out_cooldown_seconds: float = 30
    scale_in_cooldown_seconds: float = 60

    def __post_init__(self) -> None:
        if not 0 <= self.min_workers <= self.max_workers:
            raise ValueError("the least number of workers lies between none and the greatest")
        if self.max_workers < 1:
            raise ValueError("with no worker at most, nothing is ever done")
        if self.target_per_worker < 1:
            raise ValueError("the share of a worker is one message or more")

    def capacity_for(self, backlog: int) -> int:
        """For each share of the backlog one worker, within the limits."""
        shares = -(-backlog // self.target_per_worker)
        return min(max(shares, self.min_workers), self.max_workers)


USUAL_SCALING: Final = ScalingPolicy()


@dataclass(frozen=True, slots=True)
class ScalingDecision:
    wanted: int
    reason: str


def decide_workers(
    policy: ScalingPolicy,
    *,
    backlog: int,
    busy: int,
    running: int,
    now_s: float,
    last_out_s: float | None,
    last_in_s: float | None,
) -> ScalingDecision:
    """`busy`: how many workers are needed by what is in flight, which `backlog` includes.

    The first worker comes at once. Whether more come depends on when any came last; whether some
    go, on when the number changed last, either way: what was just started has done nothing yet.
    """
    present = min(max(running, policy.min_workers), policy.max_workers)
    called_for = policy.capacity_for(backlog)
    wanted = max(called_for, min(busy, present))
    reason = f"a backlog of {backlog} calls for {called_for}"
    if wanted > called_for:
        reason += f", what is in flight for {wanted}"
    if wanted > present:
        wait_s = _left(policy.scale_out_cooldown_seconds, now_s, last_out_s) if running else 0.0
    else:
        wait_s = _left(policy.scale_in_cooldown_seconds, now_s, last_out_s, last_in_s)
    if wanted != present and wait_s > 0:
        return ScalingDecision(present, f"{reason} in {wait_s:.0f} s")
    return ScalingDecision(wanted, reason)


def _left(cooldown_s: float, now_s: float, *changes_s: float | None) -> float:
    known = [change for change in changes_s if change is not None]
    return max(known) + cooldown_s - now_s if known else 0.0
