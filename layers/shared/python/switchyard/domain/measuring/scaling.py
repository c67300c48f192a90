"""Decides how many workers a queue needs, and when to change to that number.

The alarms and steps of the deployed service and the supervisor of the local cloud are both made
from this policy; `tests/stacks/worker/test_scaling.py` asserts one table of numbers for both.
"""

from collections import deque
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True, kw_only=True)
class ScalingPolicy:
    min_workers: int = 0
    max_workers: int = 5
    target_per_worker: int = 20
    """The number of messages, waiting or in flight, that are one worker's share."""
    kept_per_worker: int | None = None
    """With fewer messages than this for each, workers are stopped; `None`: as with their share."""
    scale_out_cooldown_seconds: float = 30
    scale_in_after_seconds: float = 300
    """The time for which fewer workers must have been enough before some are stopped."""

    def __post_init__(self) -> None:
        if not 0 <= self.min_workers <= self.max_workers:
            raise ValueError("the least number of workers lies between none and the greatest")
        if self.max_workers < 1:
            raise ValueError("with no worker at most, nothing is ever done")
        if self.target_per_worker < 1:
            raise ValueError("the share of a worker is one message or more")
        if not 1 <= self.kept_for_each <= self.target_per_worker:
            raise ValueError("a worker is kept for one message or more, up to its share")

    def workers_for(self, *, waiting: int, in_flight: int, slots: int) -> int:
        """Return one worker per share of all messages, and enough for those in flight.

        A worker runs at most `slots` tasks at once, so the messages in flight occupy at least
        `in_flight / slots` workers, however small the backlog has become.
        """
        by_share = -(-(waiting + in_flight) // self.target_per_worker)
        by_slots = -(-in_flight // slots)
        return self.limited(max(by_share, by_slots))

    @property
    def kept_for_each(self) -> int:
        """Return how many messages are enough to keep a worker that is there."""
        return self.target_per_worker if self.kept_per_worker is None else self.kept_per_worker

    def workers_kept(self, present: int, *, waiting: int, in_flight: int, slots: int) -> int:
        """Return how many of those present are kept, and how many are needed if that is more."""
        needed = self.workers_for(waiting=waiting, in_flight=in_flight, slots=slots)
        enough = -(-(waiting + in_flight) // self.kept_for_each)
        return max(needed, min(present, self.limited(enough)))

    def limited(self, workers: int) -> int:
        return min(max(workers, self.min_workers), self.max_workers)


USUAL_SCALING: Final = ScalingPolicy()


class RecentNeed:
    """Remembers how many workers were needed during the last seconds, and returns the greatest."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._falling: deque[tuple[float, int]] = deque()

    def add(self, workers: int, *, now_s: float) -> int:
        """Record what is needed now; return the greatest number that is not too old."""
        while self._falling and self._falling[-1][1] <= workers:
            self._falling.pop()
        self._falling.append((now_s, workers))
        while now_s - self._falling[0][0] >= self._seconds and len(self._falling) > 1:
            self._falling.popleft()
        return self._falling[0][1]


@dataclass(frozen=True, slots=True)
class ScalingDecision:
    wanted: int
    reason: str


def decide_workers(
    policy: ScalingPolicy,
    *,
    waiting: int,
    in_flight: int,
    slots: int,
    wanted_before: int,
    needed_lately: int,
    now_s: float,
    last_out_s: float | None,
) -> ScalingDecision:
    """Decide how many workers are wanted now.

    The first worker is started at once, further ones after the cooldown of scaling out. The number
    falls to what was needed at most during the last `scale_in_after_seconds` (`needed_lately`),
    as the deployed alarms take the greatest value of their last evaluation periods.
    """
    present = policy.limited(wanted_before)
    needed = policy.workers_for(waiting=waiting, in_flight=in_flight, slots=slots)
    reason = f"{waiting} waiting and {in_flight} in flight need {needed}"
    if needed > present:
        wait_s = _cooldown_left(policy, now_s, last_out_s) if wanted_before else 0.0
        if wait_s > 0:
            return ScalingDecision(present, f"{reason}, in {wait_s:.0f} s")
        return ScalingDecision(needed, reason)
    kept = policy.workers_kept(present, waiting=waiting, in_flight=in_flight, slots=slots)
    wanted = max(kept, min(needed_lately, present))
    if kept == wanted > needed:
        reason += f", {kept} are kept: there are {policy.kept_for_each} messages for each"
    elif wanted > needed:
        reason += f", {wanted} were needed within {policy.scale_in_after_seconds:.0f} s"
    return ScalingDecision(wanted, reason)


def _cooldown_left(policy: ScalingPolicy, now_s: float, last_out_s: float | None) -> float:
    if last_out_s is None:
        return 0.0
    return last_out_s + policy.scale_out_cooldown_seconds - now_s
