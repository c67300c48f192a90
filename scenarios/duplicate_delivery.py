"""3. The same message is delivered more than once."""

from collections import Counter
from dataclasses import dataclass
from typing import Final

from scenarios.evidence import Evidence
from scenarios.observing import Watch
from scenarios.producer import Producer, ProducerSwitches, messages
from scenarios.workers import Workers
from scenarios.yard import Yard

MESSAGES: Final = 4
VISIBILITY_SECONDS: Final = 3
SLOW_MS: Final = 4_500
NEVER: Final = 1_000_000


@dataclass(frozen=True)
class DuplicateDelivery:
    name: str = "duplicate-delivery"
    title: str = "Duplicate delivery"
    what_it_shows: str = (
        "Not deleted, sent twice or slower than its visibility: the work and its effect happen "
        "once."
    )

    def run(self, yard: Yard, workers: Workers, evidence: Evidence) -> None:
        watch = Watch(yard, workers, evidence)
        kept = self._not_deleted(yard, workers, watch)
        twice, slow = self._sent_twice(yard), self._slower_than_visibility(yard)
        workers.start(RECEIVE_VISIBILITY_SECONDS=VISIBILITY_SECONDS, EXTEND_EVERY_N=NEVER)
        watch.until_drained()
        seen = watch.until_all_settled()  # the copy of a slow one is gone before it is done

        sent = {*kept, *twice, *slow}
        deliveries = Counter(entry.message for entry in workers.journal("received"))
        evidence.count("messages", len(sent))
        evidence.count("deliveries", deliveries.total())
        for kind, of_it in {
            "not deleted": kept,
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

    def _not_deleted(self, yard: Yard, workers: Workers, watch: Watch) -> tuple[str, ...]:
        sent = _producer(yard, ProducerSwitches(prefix="kept")).send(MESSAGES)
        worker = workers.start(NO_DELETE_AFTER_PROCESS=1, MESSAGE_LIMIT=MESSAGES)
        watch.until("a worker has ended that deletes nothing", lambda _: not worker.running)
        return sent.good

    def _sent_twice(self, yard: Yard) -> tuple[str, ...]:
        switches = ProducerSwitches(prefix="twice")
        made = messages(switches, MESSAGES)
        _producer(yard, switches).send_these([*made, *made])
        return tuple(message.id for message in made)

    def _slower_than_visibility(self, yard: Yard) -> tuple[str, ...]:
        switches = ProducerSwitches(prefix="slow", input={"offline": {"delayMs": SLOW_MS}})
        return _producer(yard, switches).send(1).good


def _producer(yard: Yard, switches: ProducerSwitches) -> Producer:
    return Producer(yard.place.client("sqs"), yard.queue_url, switches)


def _check_once(
    sentence: str, act: str, sent: set[str], workers: Workers, evidence: Evidence
) -> None:
    counted = Counter(entry.message for entry in workers.journal(act))
    others = {message: number for message, number in counted.items() if number != 1}
    once = set(counted) == sent and not others
    evidence.check(sentence, once, shown=others or f"{len(counted)} of {len(sent)}")


SCENARIO: Final = DuplicateDelivery()
