"""11. Messages came for a long time while no worker ran."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from switchyard_scenarios.harness.harness import Harness
from switchyard_scenarios.harness.workers import Workers
from switchyard_scenarios.producer import Producer, ProducerSwitches, messages
from switchyard_scenarios.reporting.evidence import Evidence
from switchyard_scenarios.reporting.watch import Seen, Watch
from switchyard_scenarios.switched.effects import Status
from switchyard_scenarios.switched.inbox import PRODUCED_AT

FRESH: Final = 240
STALE: Final = 60
SENT_TWICE: Final = 20
"""The number of fresh messages that a producer sends twice, as if it had no answer."""
WORKERS: Final = 4
STALE_AFTER_SECONDS: Final = 3_600
PATIENCE_SECONDS: Final = 120.0


@dataclass(frozen=True)
class BacklogDrain:
    name: str = "backlog-drain"
    title: str = "Backlog drain after an outage"
    demonstrates: str = (
        "300 messages wait; four workers handle them, each once, and refuse what is too old."
    )

    def run(self, harness: Harness, workers: Workers, evidence: Evidence) -> None:
        watch = Watch(harness, workers, evidence)
        fresh, stale = _accumulate(harness, evidence)
        sent = len(fresh) + len(stale) + SENT_TWICE
        watch.until("it all waits", lambda seen: seen.waiting == sent)
        began = evidence.clock.monotonic()
        for _ in range(WORKERS):
            workers.start(STALE_AFTER_SECONDS=STALE_AFTER_SECONDS, STALE_MESSAGES="discard")
        watch.until_drained(seconds=PATIENCE_SECONDS)
        seen = watch.until_all_settled()
        took = evidence.clock.monotonic() - began
        evidence.count("messages a minute", round(60 * (len(fresh) + len(stale)) / took))
        _check_work(fresh, seen, workers, evidence)
        _check_stale(stale, seen, evidence)
        evidence.check("there are no dead letters", seen.dead == 0, shown=seen.dead)


def _accumulate(harness: Harness, evidence: Evidence) -> tuple[Sequence[str], Sequence[str]]:
    sqs = harness.place.client("sqs")
    old_ms = evidence.clock.now_ms() - 2 * STALE_AFTER_SECONDS * 1000
    stale = ProducerSwitches(prefix="stale", attributes={PRODUCED_AT: str(old_ms)})
    fresh = ProducerSwitches(prefix="fresh")
    made = messages(fresh, FRESH)
    sent_stale = Producer(sqs, harness.queue_url, stale).send(STALE)
    sent_fresh = Producer(sqs, harness.queue_url, fresh).send_these(made)
    Producer(sqs, harness.queue_url, fresh).send_these(made[:SENT_TWICE])
    evidence.count("messages", FRESH + STALE)
    evidence.count("sent twice", SENT_TWICE)
    return sent_fresh.good, sent_stale.good


def _check_work(fresh: Sequence[str], seen: Seen, workers: Workers, evidence: Evidence) -> None:
    evidence.check(
        "every message that is not stale is completed",
        set(seen.completed) == set(fresh),
        shown=f"{len(seen.completed)} of {len(fresh)}",
    )
    claims = Counter(entry.message for entry in workers.journal("claimed"))
    others = {message: number for message, number in claims.items() if number != 1}
    once = set(claims) == set(fresh) and not others
    evidence.check("each is handled once", once, shown=others or f"{len(claims)} claims")
    shares = Counter(entry.worker for entry in workers.journal("claimed"))
    reported = dict(sorted(shares.items()))
    evidence.check("all workers take part", len(shares) == WORKERS, shown=reported)


def _check_stale(stale: Sequence[str], seen: Seen, evidence: Evidence) -> None:
    refused = {
        message
        for message, row in seen.statuses.items()
        if row["status"] == Status.FAILED and row["error_reason"].startswith("stale")
    }
    evidence.count("stale", len(refused))
    evidence.check(
        "what is stale is refused, and reported as failed",
        refused == set(stale),
        shown=f"{len(refused)} of {len(stale)}",
    )


SCENARIO: Final = BacklogDrain()
