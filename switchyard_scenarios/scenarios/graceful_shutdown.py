"""9. A worker is asked to stop in the middle of its work."""

import signal
from collections import Counter
from dataclasses import dataclass
from typing import Final

from switchyard_scenarios.harness.harness import Harness
from switchyard_scenarios.harness.workers import Worker, Workers
from switchyard_scenarios.producer import Producer, ProducerSwitches
from switchyard_scenarios.reporting.evidence import Evidence
from switchyard_scenarios.reporting.watch import Watch

SHORT, LATE = 3, 3
SHORT_MS: Final = 2_000
GRACE_SECONDS: Final = 4
LONG_MS: Final = 6_000  # outlasts the grace


@dataclass(frozen=True)
class Sent:
    short: set[str]
    """Messages that can be finished within the grace."""
    long: set[str]
    late: set[str]
    """Messages that come after the worker was asked to stop."""


@dataclass(frozen=True)
class GracefulShutdown:
    name: str = "graceful-shutdown"
    title: str = "Graceful consumer shutdown"
    demonstrates: str = (
        "Asked to stop, a worker takes nothing new, finishes what it can, releases the rest "
        "and ends."
    )

    def run(self, harness: Harness, workers: Workers, evidence: Evidence) -> None:
        watch = Watch(harness, workers, evidence)
        short, long = _send(harness, "short", SHORT_MS, SHORT), _send(harness, "long", LONG_MS, 1)
        worker = workers.start(MAX_CONCURRENT_CLAUDE=SHORT + 1, STOP_GRACE_SECONDS=GRACE_SECONDS)
        watch.until("it works on all", lambda _: len(workers.journal("claimed")) == SHORT + 1)
        asked_ms = evidence.clock.now_ms()
        worker.signal(signal.SIGTERM)
        evidence.note("it is asked to stop")
        sent = Sent(short=short, long=long, late=_send(harness, "late", 0, LATE))
        code = worker.wait()
        evidence.note("it has ended", code)
        evidence.check("it ends with 0", code == 0, shown=code)
        self._check_its_end(worker, workers, sent, asked_ms, evidence)

        workers.start()
        watch.until_drained()
        seen = watch.until_all_settled()
        everything = sent.short | sent.long | sent.late
        evidence.count("sent", len(everything))
        evidence.check(
            "every message is completed in the end",
            set(seen.completed) == everything,
            shown=f"{len(seen.completed)} of {len(everything)}",
        )
        self._check_no_needless_work(harness, workers, sent, evidence)
        evidence.check("there are no dead letters", seen.dead == 0, shown=seen.dead)

    def _check_its_end(
        self, worker: Worker, workers: Workers, sent: Sent, asked_ms: int, evidence: Evidence
    ) -> None:
        its = [entry for entry in workers.journal() if entry.worker == worker.name]
        of = {
            act: {entry.message for entry in its if entry.act == act}
            for act in ("received", "settled", "released", "deleted", "put back")
        }
        early = [
            entry.message for entry in its if entry.act == "settled" and entry.at_ms < asked_ms
        ]
        evidence.check("it is asked in the middle of its work", not early, shown=early)
        finished, handed_back = of["settled"], of["released"]
        evidence.check(
            "it finishes what fits into its grace", finished == sent.short, shown=sorted(finished)
        )
        evidence.check("it releases the rest", handed_back == sent.long, shown=handed_back)
        new = of["received"] - of["put back"] - sent.short - sent.long
        evidence.check("it takes nothing new", not new, shown=sorted(new))
        orphans = of["received"] - of["deleted"] - of["put back"]
        evidence.check("it leaves no message hidden", not orphans, shown=sorted(orphans))

    def _check_no_needless_work(
        self, harness: Harness, workers: Workers, sent: Sent, evidence: Evidence
    ) -> None:
        claims = Counter(entry.message for entry in workers.journal("claimed"))
        again = {message for message, number in claims.items() if number > 1}
        evidence.check("only what it handed back is begun again", again == sent.long, shown=again)
        attempts = Counter(task.attempt for task in harness.tasks())
        evidence.check(
            "being handed back costs no attempt", set(attempts) == {1}, shown=dict(attempts)
        )


def _send(harness: Harness, prefix: str, work_ms: int, count: int) -> set[str]:
    switches = ProducerSwitches(prefix=prefix, input={"offline": {"delayMs": work_ms}})
    return set(Producer(harness.place.client("sqs"), harness.queue_url, switches).send(count).good)


SCENARIO: Final = GracefulShutdown()
