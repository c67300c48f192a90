"""1. Everything goes well."""

from dataclasses import dataclass
from typing import Final

from switchyard_scenarios.harness.harness import Harness
from switchyard_scenarios.harness.workers import Workers
from switchyard_scenarios.producer import Producer, ProducerSwitches
from switchyard_scenarios.reporting.evidence import Evidence
from switchyard_scenarios.reporting.watch import Watch

MESSAGES: Final = 12


@dataclass(frozen=True)
class HappyPath:
    name: str = "happy-path"
    title: str = "Happy path"
    demonstrates: str = "Every message is handled once, and the queue is empty afterwards."

    def run(self, harness: Harness, workers: Workers, evidence: Evidence) -> None:
        watch = Watch(harness, workers, evidence)
        producer = Producer(harness.place.client("sqs"), harness.queue_url, ProducerSwitches())
        sent = producer.send(MESSAGES)
        evidence.count("sent", len(sent.good))
        worker = workers.start(MESSAGE_LIMIT=len(sent.good))
        watch.until("the worker has ended", lambda _: not worker.running)
        seen = watch.until_drained()
        code = worker.exit_code
        evidence.check("the worker ends by itself after its last message", code == 0, shown=code)
        evidence.check(
            "every message is completed",
            set(seen.completed) == set(sent.good),
            shown=f"{len(seen.completed)} of {len(sent.good)}",
        )
        attempts = sum(row["attempts"] for row in seen.statuses.values())
        evidence.check("no message is tried twice", attempts == len(sent.good), shown=attempts)
        evidence.check("there are no dead letters", seen.dead == 0, shown=seen.dead)


SCENARIO: Final = HappyPath()
