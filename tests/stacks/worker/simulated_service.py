"""A service of workers on a queue, whose number the simulated autoscaling sets.

SQS measures once a minute; a datapoint can be read some time after its minute has ended. ECS starts
missing workers, and stops those that are too many and not protected. A worker that has just
received its first message is not protected yet: for one tick it can still be stopped.
"""

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

from tests.stacks.worker.simulated_scaling import MINUTE_S, Autoscaling

TICK_S: Final = 5
MEASURED_AT_S: Final = 45
EVALUATED_AT_S: Final = 20
START_S: Final = 75
WAITING: Final = "ApproximateNumberOfMessagesVisible"
IN_FLIGHT: Final = "ApproximateNumberOfMessagesNotVisible"


@dataclass(frozen=True, kw_only=True)
class Metrics:
    """How the queue's metrics arrive."""

    late_s: int = 90
    in_flight_late_s: int = 90
    reports_none_in_flight: bool = True
    """AWS documents that messages in flight are reported if there are some."""
    missing: Callable[[int], bool] = lambda _minute: False
    """The minutes without any datapoint."""


@dataclass
class Worker:
    starts_at_s: int
    ends_at_s: list[int] = field(default_factory=list)
    protected: bool = False

    @property
    def busy(self) -> bool:
        return bool(self.ends_at_s)


@dataclass(frozen=True)
class Change:
    at_s: int
    before: int
    after: int
    known: tuple[tuple[int, int], ...]
    """What waited and what was in flight in the minutes of the window, as far as it is known."""


class Service:
    def __init__(
        self,
        autoscaling: Autoscaling,
        *,
        slots: int,
        arrivals: Sequence[tuple[int, int]],
        task_s: int,
        metrics: Metrics,
    ) -> None:
        """`arrivals`: at which second how many messages are sent."""
        self._autoscaling = autoscaling
        self._slots = slots
        self._arrivals = deque(sorted(arrivals))
        self._task_s = task_s
        self._metrics = metrics
        self._measured: dict[int, tuple[int, int]] = {}
        self._workers: list[Worker] = []
        self.now_s = 0
        self.waiting = 0
        self.done = 0
        self.desired = autoscaling.least
        self.changes: list[Change] = []
        self.stopped_busy = 0
        self.most_workers = 0
        self.first_known_at_s: int | None = None
        self.last_done_at_s = 0

    @property
    def in_flight(self) -> int:
        return sum(len(worker.ends_at_s) for worker in self._workers)

    @property
    def workers(self) -> int:
        return len(self._workers)

    @property
    def at_rest(self) -> bool:
        nothing_left = not self._arrivals and not self.waiting and not self.in_flight
        return nothing_left and self.desired == self.workers == self._autoscaling.least

    def run(self, *, at_most_s: int) -> "Service":
        while self.now_s < at_most_s and not (self.at_rest and self.done):
            self._tick()
            self.now_s += TICK_S
        return self

    def _tick(self) -> None:
        while self._arrivals and self._arrivals[0][0] <= self.now_s:
            self.waiting += self._arrivals.popleft()[1]
        for worker in self._workers:
            self._work(worker)
        if self.now_s % MINUTE_S == MEASURED_AT_S:
            self._measured[self.now_s // MINUTE_S] = (self.waiting, self.in_flight)
        if self.now_s % MINUTE_S == EVALUATED_AT_S:
            self._scale()
        self._start_and_stop()
        for worker in self._workers:
            worker.protected = worker.busy

    def _work(self, worker: Worker) -> None:
        if worker.starts_at_s > self.now_s:
            return
        left = [end for end in worker.ends_at_s if end > self.now_s]
        if len(left) < len(worker.ends_at_s):
            self.done += len(worker.ends_at_s) - len(left)
            self.last_done_at_s = self.now_s
        taken = min(self._slots - len(left), self.waiting)
        self.waiting -= taken
        worker.ends_at_s = left + [self.now_s + self._task_s] * taken

    def _scale(self) -> None:
        datapoints = self._datapoints()
        known = tuple(self._measured[minute] for minute in sorted(datapoints[WAITING]))
        if self.first_known_at_s is None and any(map(any, known)):
            self.first_known_at_s = self._first_readable_s()
        before = self.desired
        self.desired = self._autoscaling.desired(datapoints, before=before, now_s=self.now_s)
        if self.desired != before:
            window = known[-self._autoscaling.window :]
            self.changes.append(Change(self.now_s, before, self.desired, window))

    def _datapoints(self) -> dict[str, dict[int, float]]:
        found: dict[str, dict[int, float]] = {WAITING: {}, IN_FLIGHT: {}}
        for minute in range(max(self.now_s // MINUTE_S - 20, 0), self.now_s // MINUTE_S):
            if self._metrics.missing(minute):
                continue
            waiting, in_flight = self._measured[minute]
            age_s = self.now_s - (minute + 1) * MINUTE_S
            if age_s >= self._metrics.late_s:
                found[WAITING][minute] = waiting
            reported = in_flight > 0 or self._metrics.reports_none_in_flight
            if age_s >= self._metrics.in_flight_late_s and reported:
                found[IN_FLIGHT][minute] = in_flight
        return found

    def _first_readable_s(self) -> int:
        """Return when the first datapoint that counts a message could be read."""
        minute = min(m for m, seen in self._measured.items() if any(seen) and self._arrives(m))
        return (minute + 1) * MINUTE_S + self._metrics.late_s

    def _arrives(self, minute: int) -> bool:
        return not self._metrics.missing(minute)

    def _start_and_stop(self) -> None:
        missing = self.desired - self.workers
        self._workers += [Worker(self.now_s + START_S) for _ in range(missing)]
        stoppable = [worker for worker in self._workers if not worker.protected]
        stoppable.sort(key=lambda worker: not worker.busy)
        for worker in stoppable[: max(-missing, 0)]:
            self._workers.remove(worker)
            self.stopped_busy += worker.busy
            self.waiting += len(worker.ends_at_s)
        self.most_workers = max(self.most_workers, self.workers)
