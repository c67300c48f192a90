"""6. A message has an effect elsewhere, and its worker dies right after it."""

from collections import Counter
from dataclasses import dataclass
from hashlib import sha256
from typing import Final

from switchyard_scenarios.harness.harness import Harness
from switchyard_scenarios.harness.workers import Workers
from switchyard_scenarios.producer import Producer, ProducerSwitches, messages
from switchyard_scenarios.reporting.evidence import Evidence
from switchyard_scenarios.reporting.watch import Seen, Watch
from switchyard_scenarios.switched.effects import Status
from switchyard_scenarios.switched.switches import CrashPoint

PLAIN: Final = 4
CRASHING: Final = 2
"""The number of crashing messages of each kind; each one takes a worker with it."""
EXTENSION_SECONDS: Final = 2  # a shorter lease: what a dead worker held comes back sooner


@dataclass(frozen=True)
class SideEffects:
    name: str = "side-effects"
    title: str = "Downstream side effects"
    demonstrates: str = (
        "A worker dies after the effect, before the message is deleted: the effect is not repeated."
    )

    def run(self, harness: Harness, workers: Workers, evidence: Evidence) -> None:
        watch = Watch(harness, workers, evidence)
        acted = self._crash(CrashPoint.AFTER_EFFECT, harness, workers, watch)
        settled = self._crash(CrashPoint.AFTER_SETTLING, harness, workers, watch)
        plain = _send(harness, "plain", PLAIN)
        workers.start(VISIBILITY_EXTENSION_AMOUNT=EXTENSION_SECONDS)
        seen = watch.until_drained()

        sent = acted | settled | plain
        evidence.count("sent", len(sent))
        _check_effects(sent, acted, workers, evidence)
        again = {entry.message for entry in workers.journal("claimed") if entry.fence > 1}
        evidence.check("what was settled is not worked on again", again <= acted, shown=again)
        _check_tables(sent, acted, seen, evidence)

    def _crash(
        self, point: CrashPoint, harness: Harness, workers: Workers, watch: Watch
    ) -> set[str]:
        """Messages that kill their workers there, the first time."""
        sent = _send(harness, point, CRASHING)
        for _ in sent:
            workers.start(
                MAX_CONCURRENT_CLAUDE=1,
                CRASH_ON_FIRST=1,
                CRASH_AT=point,
                CRASH_ONLY=point,
                VISIBILITY_EXTENSION_AMOUNT=EXTENSION_SECONDS,
            )
        watch.until(f"{CRASHING} workers have crashed {point}", lambda seen: seen.workers == 0)
        return sent


def _send(harness: Harness, prefix: str, count: int) -> set[str]:
    switches = ProducerSwitches(prefix=prefix)
    return set(Producer(harness.place.client("sqs"), harness.queue_url, switches).send(count).good)


def _check_effects(sent: set[str], acted: set[str], workers: Workers, evidence: Evidence) -> None:
    crashed = Counter(entry.facts["at"] for entry in workers.journal("crashed"))
    meant = {CrashPoint.AFTER_EFFECT: CRASHING, CrashPoint.AFTER_SETTLING: CRASHING}
    evidence.check("workers die right after effects", crashed == meant, shown=dict(crashed))
    effects = Counter(entry.message for entry in workers.journal("effect"))
    evidence.count("effects", effects.total())
    once = effects == dict.fromkeys(sent, 1)
    evidence.check("every effect happens once", once, shown=dict(effects))
    skipped = {entry.message for entry in workers.journal("effect skipped")}
    evidence.check(
        "where its worker died before settling, a second effect is prevented",
        skipped == acted,
        shown=sorted(skipped),
    )


def _check_tables(sent: set[str], acted: set[str], seen: Seen, evidence: Evidence) -> None:
    completed = set(seen.completed)
    evidence.check(
        "every message has one completion",
        completed == sent,
        shown=f"{len(completed)} of {len(sent)}",
    )
    by_status = seen.by_status
    all_completed = by_status == {Status.COMPLETED: len(sent)}
    evidence.check("every status is COMPLETED", all_completed, shown=dict(by_status))
    attempts = {message: row["attempts"] for message, row in seen.statuses.items()}
    expected = {message: 2 if message in acted else 1 for message in sent}
    evidence.check("the status has each attempt", attempts == expected, shown=attempts)
    digests = _digests()
    reported = [
        {message: row["payload_digest"] for message, row in table.items()}
        for table in (seen.statuses, seen.completed)
    ]
    evidence.check("both tables have the digest of what was sent", reported == [digests, digests])


def _digests() -> dict[str, str]:
    kinds = {CrashPoint.AFTER_EFFECT: CRASHING, CrashPoint.AFTER_SETTLING: CRASHING, "plain": PLAIN}
    sent = [m for prefix, n in kinds.items() for m in messages(ProducerSwitches(prefix=prefix), n)]
    return {message.id: sha256(message.body.encode()).hexdigest() for message in sent}


SCENARIO: Final = SideEffects()
