"""3. The same message is delivered more than once."""

from collections import Counter
from dataclasses import dataclass
from typing import Final

from switchyard_scenarios.harness.harness import Harness
from switchyard_scenarios.harness.workers import Workers
from switchyard_scenarios.producer import Producer, ProducerSwitches, messages
from switchyard_scenarios.reporting.evidence import Evidence
from switchyard_scenarios.reporting.watch import Watch

MESSAGES: Final = 4
VISIBILITY_SECONDS: Final = 3
SLOW_MS: Final = 4_500
NEVER: Final = 1_000_000


@dataclass(frozen=True)
class DuplicateDelivery:
    name: str = "duplicate-delivery"
    title: str = "Duplicate delivery"
    demonstrates: str = (
        "Not deleted, sent twice or slower than its visibility: the work and its effect happen "
        "once."
    )

    def run(self, harness: Harness, workers: Workers, evidence: Evidence) -> None:
        watch = Watch(harness, workers, evidence)
        stored = self._not_deleted(harness, workers, watch)
        twice, slow = self._sent_twice(harness), self._slower_than_visibility(harness)
        workers.start(RECEIVE_VISIBILITY_SECONDS=VISIBILITY_SECONDS, EXTEND_EVERY_N=NEVER)
        watch.until_drained()
        seen = watch.until_all_settled()  # the copy of a slow one is gone before it is done

        sent = {*stored, *twice, *slow}
        deliveries = Counter(entry.message for entry in workers.journal("received"))
        evidence.count("messages", len(sent))
        evidence.count("deliveries", deliveries.total())
        for kind, of_it in {
            "not deleted": stored,
            "sent twice": twice,
            "slower than its visibility": slow,
        }.items():
            counted = {message: deliveries[message] for message in of_it}
            again = all(number > 1 for number in counted.values())
            evidence.check(f"what is {kind} is delivered again", again, shown=counted)
        _check_once("the work on each message is done once", "claimed", sent, workers, evidence)
        _check_once("each effect happens once", "effect", sent, workers, evidence)
        evidence.check(
            "every message has one completion",
            set(seen.completed) == sent,
            shown=f"{len(seen.completed)} of {len(sent)}",
        )
        evidence.check("there are no dead letters", seen.dead == 0, shown=seen.dead)

    def _not_deleted(self, harness: Harness, workers: Workers, watch: Watch) -> tuple[str, ...]:
        sent = _producer(harness, ProducerSwitches(prefix="kept")).send(MESSAGES)
        worker = workers.start(NO_DELETE_AFTER_PROCESS=1, MESSAGE_LIMIT=MESSAGES)
        watch.until("a worker has ended that deletes nothing", lambda _: not worker.running)
        return sent.good

    def _sent_twice(self, harness: Harness) -> tuple[str, ...]:
        switches = ProducerSwitches(prefix="twice")
        made = messages(switches, MESSAGES)
        _producer(harness, switches).send_these([*made, *made])
        return tuple(message.id for message in made)

    def _slower_than_visibility(self, harness: Harness) -> tuple[str, ...]:
        switches = ProducerSwitches(prefix="slow", input={"offline": {"delayMs": SLOW_MS}})
        return _producer(harness, switches).send(1).good


def _producer(harness: Harness, switches: ProducerSwitches) -> Producer:
    return Producer(harness.place.client("sqs"), harness.queue_url, switches)


def _check_once(
    sentence: str, act: str, sent: set[str], workers: Workers, evidence: Evidence
) -> None:
    counted = Counter(entry.message for entry in workers.journal(act))
    others = {message: number for message, number in counted.items() if number != 1}
    once = set(counted) == sent and not others
    evidence.check(sentence, once, shown=others or f"{len(counted)} of {len(sent)}")


SCENARIO: Final = DuplicateDelivery()
