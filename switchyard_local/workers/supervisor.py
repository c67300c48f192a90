"""Keeps as many worker processes as the backlog calls for, between a least and a greatest number.

What is done about a backlog, and when, is decided in `domain/measuring/scaling.py`. Scaling in
stops idle workers only, as ECS stops only tasks without scale-in protection: a busy worker beyond
the wanted number stays until its last task has ended. A worker is asked to stop once: a second
signal makes it hand back its tasks, and a third one leave at once.
"""

import signal
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final, NoReturn, Protocol

from switchyard.domain.measuring.scaling import (
    RecentNeed,
    ScalingDecision,
    ScalingPolicy,
    decide_workers,
)
from switchyard.ports import Clock, QueueDepth
from switchyard_local.say import Say
from switchyard_local.workers.shutdown import STOP_SECONDS

STEP_SECONDS: Final = 1.0
LOOK_SECONDS: Final = 0.2
EARLY_SECONDS: Final = 10.0
LONGEST_PAUSE_SECONDS: Final = 60.0
"""Workers that end so early are started again after pauses that double up to this."""


class SupervisedWorker(Protocol):
    @property
    def name(self) -> str:
        """The worker's name; workers whose names come last are the first to be stopped."""

    @property
    def running(self) -> bool: ...

    @property
    def busy(self) -> bool:
        """Whether it runs a task."""

    @property
    def exit_code(self) -> int | None:
        """Return the exit code, -9 for signal 9; `None` if unknown. To be called once."""

    def signal(self, number: signal.Signals) -> None:
        """Send a signal; do nothing if the worker has ended."""


@dataclass(frozen=True, slots=True)
class _Since:
    worker: SupervisedWorker
    at_s: float


class Supervisor:
    def __init__(
        self,
        policy: ScalingPolicy,
        *,
        start: Callable[[], SupervisedWorker],
        depth: Callable[[], QueueDepth],
        slots: int,
        clock: Clock,
        say: Say,
        present: Sequence[SupervisedWorker] = (),
        hibernates: bool = False,
    ) -> None:
        """`slots`: how many tasks a worker does at once. `present`: who works already.

        `hibernates`: whether a worker that ends well has left because there was no work.
        """
        self._hibernates = hibernates
        self._policy = policy
        self._start = start
        self._depth = depth
        self._slots = slots
        self._clock = clock
        self._say = say
        self._working = [_Since(worker, clock.monotonic()) for worker in present]
        self._leaving: list[_Since] = []
        self._wanted = len(present)
        self._last_out_s: float | None = None
        self._recent_need = RecentNeed(policy.scale_in_after_seconds)
        self._recent_need.add(len(present), now_s=clock.monotonic())
        self._early_ends = 0
        self._start_after_s = 0.0

    @property
    def wanted(self) -> int:
        return self._wanted

    @property
    def leaving(self) -> int:
        """Return how many were asked to stop and have not ended yet."""
        return len(self._leaving)

    @property
    def too_many(self) -> int:
        """Return how many workers there are beyond the wanted number."""
        return max(len(self._working) - self._wanted, 0)

    def step(self) -> ScalingDecision:
        """Look once, and start or stop what there is too little or too much of."""
        now_s, depth = self._clock.monotonic(), self._depth()
        decision = self._decide(depth, now_s)
        if decision.wanted != self._wanted:
            self._turn_to(decision, now_s)
        self._forget_ended(now_s)
        self._start_missing(now_s)
        if self.too_many:
            self._ask_to_stop([one for one in self._working if not one.worker.busy], now_s)
        self._press_who_lingers(now_s)
        return decision

    def run(self) -> NoReturn:
        """Run until something is raised, such as an interruption."""
        while True:
            self.step()
            self._clock.sleep(STEP_SECONDS)

    def stop(self, *, keep: int = 0) -> None:
        """Stop all workers but `keep` and wait for them; an interruption hurries them."""
        self._working = [one for one in self._working if one.worker.running]
        self._wanted = min(keep, len(self._working))
        self._ask_to_stop(self._working, self._clock.monotonic())
        try:
            while self._leaving:
                self._press_who_lingers(self._clock.monotonic())
                self._clock.sleep(LOOK_SECONDS)
        finally:
            for one in self._leaving:
                one.worker.signal(signal.SIGKILL)

    def _decide(self, depth: QueueDepth, now_s: float) -> ScalingDecision:
        queued = {"waiting": depth.waiting, "in_flight": depth.hidden, "slots": self._slots}
        needed = self._policy.workers_for(**queued)
        return decide_workers(
            self._policy,
            **queued,
            wanted_before=self._wanted,
            needed_lately=self._recent_need.add(needed, now_s=now_s),
            now_s=now_s,
            last_out_s=self._last_out_s,
        )

    def _turn_to(self, decision: ScalingDecision, now_s: float) -> None:
        self._say(f"{self._wanted} → {decision.wanted} workers: {decision.reason}")
        if decision.wanted > self._wanted:
            self._last_out_s = now_s
        self._wanted = decision.wanted

    def _forget_ended(self, now_s: float) -> None:
        """Make room for others: the tasks of those that ended come back when the leases end."""
        for one in self._working:
            if one.worker.running:
                continue
            code = one.worker.exit_code
            if code == 0 and self._hibernates:
                self._let_hibernate(one, now_s)
            elif code is None:
                self._say(
                    f"{one.worker.name} has ended, and is replaced. Another command started it: "
                    "how it ended is not known here, and its log may say why"
                )
            elif code < 0:
                self._say(f"{one.worker.name} was killed by {_signal(-code)}, and is replaced")
            else:
                self._pause_if_early(one, now_s)
        self._working = [one for one in self._working if one.worker.running]

    def _let_hibernate(self, one: _Since, now_s: float) -> None:
        self._say(f"{one.worker.name} hibernates: its groups are empty")
        self._wanted = self._policy.limited(self._wanted - 1)
        self._recent_need = RecentNeed(self._policy.scale_in_after_seconds)
        self._recent_need.add(self._wanted, now_s=now_s)

    def _pause_if_early(self, one: _Since, now_s: float) -> None:
        lived_s = now_s - one.at_s
        self._early_ends = self._early_ends + 1 if lived_s < EARLY_SECONDS else 0
        if not self._early_ends:
            self._say(f"{one.worker.name} has ended by itself, and is replaced")
            return
        pause_s = min(2.0 ** (self._early_ends - 1), LONGEST_PAUSE_SECONDS)
        self._start_after_s = now_s + pause_s
        self._say(
            f"{one.worker.name} has ended by itself {lived_s:.0f} s after its start: its log says "
            f"why. The next one starts in {pause_s:.0f} s"
        )

    def _start_missing(self, now_s: float) -> None:
        while len(self._working) < self._wanted and now_s >= self._start_after_s:
            self._working.append(_Since(self._start(), now_s))

    def _ask_to_stop(self, candidates: Iterable[_Since], now_s: float) -> None:
        """Stop as many of them as there are too many, those whose names come last first."""
        last_first = sorted(candidates, key=lambda one: one.worker.name, reverse=True)
        for one in last_first[: self.too_many]:
            one.worker.signal(signal.SIGTERM)
            self._working.remove(one)
            self._leaving.append(_Since(one.worker, now_s))

    def _press_who_lingers(self, now_s: float) -> None:
        self._leaving = [one for one in self._leaving if one.worker.running]
        for one in self._leaving:
            if now_s - one.at_s > STOP_SECONDS:
                one.worker.signal(signal.SIGKILL)


def _signal(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:  # most real-time signals have no name
        return f"signal {number}"
