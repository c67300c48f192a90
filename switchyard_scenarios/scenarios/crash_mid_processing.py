"""2. A worker dies in the middle of its work."""

import signal
from dataclasses import dataclass
from typing import Final

from switchyard_scenarios.harness.harness import Harness
from switchyard_scenarios.harness.workers import Workers
from switchyard_scenarios.producer import Producer, ProducerSwitches
from switchyard_scenarios.reporting.evidence import Evidence
from switchyard_scenarios.reporting.journal import Entry
from switchyard_scenarios.reporting.watch import Watch
from switchyard_scenarios.switched.switches import CrashPoint

MESSAGES: Final = 5
WORK_MS: Final = 1_500  # long enough for a renewal, at which it dies


@dataclass(frozen=True)
class CrashMidProcessing:
    name: str = "crash-mid-processing"
    title: str = "Consumer crash mid-processing"
    demonstrates: str = (
        "What a killed worker held comes back when its lease is over, and another one finishes it."
    )

    def run(self, harness: Harness, workers: Workers, evidence: Evidence) -> None:
        watch = Watch(harness, workers, evidence)
        switches = ProducerSwitches(input={"offline": {"delayMs": WORK_MS}})
        sent = Producer(harness.place.client("sqs"), harness.queue_url, switches).send(MESSAGES)
        evidence.count("sent", len(sent.good))
        first = workers.start(CRASH_ON_FIRST=1, CRASH_AT=CrashPoint.WORKING)
        watch.until("the first worker has crashed", lambda _: not first.running)
        held = {entry.message for entry in workers.journal("claimed")}
        evidence.count("held by it", len(held))
        workers.start()
        seen = watch.until_drained()

        code = first.exit_code
        evidence.check("the first worker was killed", code == -signal.SIGKILL, shown=code)
        evidence.check("it held messages when it died", bool(held), shown=len(held))
        evidence.check(
            "every message is completed",
            set(seen.completed) == set(sent.good),
            shown=f"{len(seen.completed)} of {len(sent.good)}",
        )
        _check_takeovers(held, workers.journal("claimed", "renewed"), evidence)
        tries = {message: row["attempts"] for message, row in seen.statuses.items()}
        expected = {message: 2 if message in held else 1 for message in sent.good}
        evidence.check("exactly what it held is tried again", tries == expected, shown=tries)
        effects = len(workers.journal("effect"))
        evidence.check("every effect happens once", effects == len(sent.good), shown=effects)
        evidence.check("there are no dead letters", seen.dead == 0, shown=seen.dead)


def _check_takeovers(held: set[str], journal: list[Entry], evidence: Evidence) -> None:
    """Compare each lease that ended with the claim that followed it."""
    early = [
        later.message
        for later in journal
        for before in journal
        if later.act == "claimed"
        and before.message == later.message
        and before.fence == later.fence - 1
        and later.facts["now_ms"] <= before.facts["lease_until_ms"]
    ]
    again = {entry.message for entry in journal if entry.act == "claimed" and entry.fence > 1}
    evidence.check("what it held is taken over", again == held, shown=sorted(again))
    evidence.check("nothing is taken over before its lease ends", not early, shown=early)


SCENARIO: Final = CrashMidProcessing()
