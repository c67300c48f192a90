"""5. More messages come than the workers that there are can handle."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from switchyard.domain.measuring.scaling import USUAL_SCALING, ScalingPolicy
from switchyard.ports import QueueDepth
from switchyard_local.workers.supervisor import Supervisor
from switchyard_scenarios.harness.harness import Harness
from switchyard_scenarios.harness.workers import Worker, Workers
from switchyard_scenarios.producer import Producer, ProducerSwitches
from switchyard_scenarios.reporting.evidence import Evidence
from switchyard_scenarios.reporting.watch import Seen, Watch

MESSAGES: Final = 30
SLOW_MS: Final = 800
SLOTS: Final = 2
PATIENCE_SECONDS: Final = 90.0
FORMED: Final = MESSAGES // 2
POLICY: Final = replace(
    USUAL_SCALING,
    min_workers=1,
    max_workers=4,
    target_per_worker=6,
    scale_out_cooldown_seconds=2,
    scale_in_after_seconds=3,
)
"""The value of the deployed service, for a small burst and a user who waits for it."""


@dataclass(frozen=True)
class Backpressure:
    name: str = "backpressure"
    title: str = "Backpressure and scaling"
    demonstrates: str = "A burst makes a backlog, workers come until it is gone, and then they go."

    def run(self, harness: Harness, workers: Workers, evidence: Evidence) -> None:
        watch = Watch(harness, workers, evidence)
        supervised = _Supervised(harness, workers, evidence)
        watch.until("one worker is at work", lambda seen: supervised.after(seen).workers == 1)
        slowly = ProducerSwitches(input={"offline": {"delayMs": SLOW_MS}})
        sent = Producer(harness.place.client("sqs"), harness.queue_url, slowly).send(MESSAGES)
        evidence.count("sent", len(sent.good))
        watch.until("a backlog forms", lambda seen: supervised.after(seen).backlog >= FORMED)
        watch.until_drained(seconds=PATIENCE_SECONDS, each=supervised.after)
        seen = watch.until("it stays so, and workers went", supervised.is_at_rest)
        _check_scaling(supervised.looks, evidence)
        _check_messages(sent.good, seen, workers, evidence)
        ended = [worker for worker in workers.started if not worker.running]
        codes = [worker.exit_code for worker in ended]
        in_order = bool(codes) and not any(codes)
        evidence.check("who was too many ended in order", in_order, shown=codes)


class _Supervised:
    """The supervisor, which takes a step with every look, and what was seen each time."""

    def __init__(self, harness: Harness, workers: Workers, evidence: Evidence) -> None:
        self.looks: list[Seen] = []
        self._policy = _policy(harness)
        self._supervisor = Supervisor(
            self._policy,
            start=lambda: _start(workers),
            depth=self._depth,
            slots=SLOTS,
            clock=evidence.clock,
            say=evidence.note,
        )

    def after(self, seen: Seen) -> Seen:
        self.looks.append(seen)
        self._supervisor.step()
        return seen

    def is_at_rest(self, seen: Seen) -> bool:
        self.after(seen)
        few = seen.workers == self._policy.min_workers
        return few and seen.drained and not self._supervisor.leaving

    def _depth(self) -> QueueDepth:
        return QueueDepth(waiting=self.looks[-1].waiting, hidden=self.looks[-1].hidden)


def _start(workers: Workers) -> Worker:
    return workers.start(MAX_CONCURRENT_CLAUDE=SLOTS)


def _policy(harness: Harness) -> ScalingPolicy:
    return replace(POLICY, max_workers=1) if harness.planted == "no-scaling" else POLICY


def _check_scaling(looks: Sequence[Seen], evidence: Evidence) -> None:
    most = max(seen.backlog for seen in looks)
    workers = [seen.workers for seen in looks]
    evidence.count("greatest backlog", most)
    evidence.count("most workers", max(workers))
    evidence.check(
        "workers come until there are as many as may be",
        max(workers) == POLICY.max_workers,
        shown=f"{max(workers)} of {POLICY.max_workers}",
    )
    after_the_most = workers[workers.index(max(workers)) :]
    evidence.check(
        "they go as the backlog goes",
        max(workers) > POLICY.min_workers == after_the_most[-1],
        shown=f"{max(workers)} → {after_the_most[-1]}",
    )


def _check_messages(sent: Sequence[str], seen: Seen, workers: Workers, evidence: Evidence) -> None:
    evidence.check(
        "every message is completed",
        set(seen.completed) == set(sent),
        shown=f"{len(seen.completed)} of {len(sent)}",
    )
    claims = Counter(entry.message for entry in workers.journal("claimed"))
    twice = {message: number for message, number in claims.items() if number > 1}
    evidence.check("no message is handled twice", not twice, shown=twice or "none was")
    evidence.check("there are no dead letters", seen.dead == 0, shown=seen.dead)


SCENARIO: Final = Backpressure()
