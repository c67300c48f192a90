"""8. The work takes longer than a message stays hidden."""

from collections import Counter
from dataclasses import dataclass
from typing import Final

from switchyard_scenarios.harness.harness import Harness
from switchyard_scenarios.harness.workers import Workers
from switchyard_scenarios.producer import Producer, ProducerSwitches
from switchyard_scenarios.reporting.evidence import Evidence
from switchyard_scenarios.reporting.watch import Watch

MESSAGES: Final = 2
VISIBILITY_SECONDS: Final = 4
WORK_MS: Final = 9_000  # twice as long, and a little more


@dataclass(frozen=True)
class VisibilityExtension:
    name: str = "visibility-extension"
    title: str = "Visibility timeout extension"
    demonstrates: str = (
        "A worker keeps a message hidden for as long as it works on it: no other one receives it."
    )

    def run(self, harness: Harness, workers: Workers, evidence: Evidence) -> None:
        watch = Watch(harness, workers, evidence)
        switches = ProducerSwitches(input={"offline": {"delayMs": WORK_MS}})
        sent = Producer(harness.place.client("sqs"), harness.queue_url, switches).send(MESSAGES)
        evidence.count("sent", len(sent.good))
        for _ in range(2):  # whatever comes back finds a worker with a free slot
            workers.start(
                RECEIVE_VISIBILITY_SECONDS=VISIBILITY_SECONDS,
                VISIBILITY_EXTENSION_SECONDS=VISIBILITY_SECONDS,
                EXTEND_EVERY_N=2,
            )
        watch.until_drained()
        seen = watch.until_all_settled()

        deliveries = _counted(workers, "received")
        once = dict.fromkeys(sent.good, 1)
        _check_length(workers, evidence)
        _check_renewals(harness, workers, evidence)
        evidence.check("no message is delivered twice", deliveries == once, shown=deliveries)
        claims = _counted(workers, "claimed")
        evidence.check("the work on each message is done once", claims == once, shown=claims)
        evidence.check(
            "every message is completed",
            set(seen.completed) == set(sent.good),
            shown=f"{len(seen.completed)} of {len(sent.good)}",
        )


def _counted(workers: Workers, act: str) -> dict[str, int]:
    return dict(Counter(entry.message for entry in workers.journal(act)))


def _check_length(workers: Workers, evidence: Evidence) -> None:
    began = {entry.message: entry.at_ms for entry in workers.journal("claimed")}
    took = [entry.at_ms - began[entry.message] for entry in workers.journal("settled")]
    evidence.check(
        f"the work takes more than twice the {VISIBILITY_SECONDS} s that a message stays hidden",
        bool(took) and min(took) > 2 * VISIBILITY_SECONDS * 1000,
        shown=f"{took} ms",
    )


def _check_renewals(harness: Harness, workers: Workers, evidence: Evidence) -> None:
    extensions, renewals = _counted(workers, "extended"), _counted(workers, "renewed")
    evidence.count("extensions", sum(extensions.values()))
    often = len(extensions) == MESSAGES and min(extensions.values()) >= 2
    evidence.check(
        "each message is hidden again and again",
        often,
        shown=extensions,
    )
    often = len(renewals) == MESSAGES and min(renewals.values()) >= 2
    evidence.check("each lease is renewed again and again", often, shown=renewals)
    alive = [
        task.signs.beat_at_ms - task.started_at_ms
        for task in harness.tasks()
        if task.signs and task.started_at_ms
    ]
    late = len(alive) == MESSAGES and min(alive) > VISIBILITY_SECONDS * 1000
    evidence.check("the state has heartbeats after that time", late, shown=f"{alive} ms")


SCENARIO: Final = VisibilityExtension()
