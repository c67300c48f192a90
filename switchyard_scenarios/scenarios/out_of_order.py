"""10. Messages arrive in another order than they were meant in."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import Final

from switchyard_scenarios.harness.harness import Harness
from switchyard_scenarios.harness.workers import Workers
from switchyard_scenarios.producer import Message, Producer, ProducerSwitches, messages
from switchyard_scenarios.reporting.evidence import Evidence
from switchyard_scenarios.reporting.watch import Watch

VERSIONS: Final = 3
ORDERS: Final = tuple(permutations(range(1, VERSIONS + 1)))
"""The orders in which versions can arrive, with an entity for each."""
AT_ONCE: Final = 3
"""The number of entities whose versions all come together, and race."""


@dataclass(frozen=True)
class OutOfOrder:
    name: str = "out-of-order"
    title: str = "Out-of-order processing"
    demonstrates: str = (
        "Whatever order its versions arrive in, an entity ends up with the newest one."
    )

    def run(self, harness: Harness, workers: Workers, evidence: Evidence) -> None:
        watch = Watch(harness, workers, evidence)
        for _ in range(2):
            workers.start(ENTITIES_TABLE=harness.names.entities)
        for wave in range(VERSIONS):
            self._send_and_wait(f"wave {wave + 1}", _wave(wave), harness, watch)
            _check_newest(wave, harness, evidence)
        racing = messages(ProducerSwitches(prefix="race", versions=VERSIONS), AT_ONCE)
        self._send_and_wait("the race", racing[::-1], harness, watch)
        seen = watch.until_drained()

        sent = VERSIONS * (len(ORDERS) + AT_ONCE)
        evidence.count("sent", sent)
        evidence.count("entities", len(ORDERS) + AT_ONCE)
        found = {entity: row["version"] for entity, row in harness.entities().items()}
        right = len(found) == len(ORDERS) + AT_ONCE and set(found.values()) == {VERSIONS}
        evidence.check("every entity ends with its newest version", right, shown=found)
        completed = len(seen.completed)
        evidence.check("every message is completed", completed == sent, shown=completed)
        evidence.check("there are no dead letters", seen.dead == 0, shown=seen.dead)

    def _send_and_wait(
        self, what: str, wave: Sequence[Message], harness: Harness, watch: Watch
    ) -> None:
        """Send a wave and wait until it is handled, so that the waves arrive in order."""
        producer = Producer(harness.place.client("sqs"), harness.queue_url, ProducerSwitches())
        ids = producer.send_these(wave).good
        watch.until(f"{what} is handled", lambda seen: set(ids) <= set(seen.completed))


def _wave(number: int) -> list[Message]:
    """Return the version of each entity that comes in this wave."""
    made = {
        m.id: m for m in messages(ProducerSwitches(prefix="order", versions=VERSIONS), len(ORDERS))
    }
    return [made[f"order-{n}-v{order[number]}"] for n, order in enumerate(ORDERS)]


def _check_newest(wave: int, harness: Harness, evidence: Evidence) -> None:
    newest = {f"order-{n}": max(order[: wave + 1]) for n, order in enumerate(ORDERS)}
    found = {entity: row["version"] for entity, row in harness.entities().items()}
    sentence = f"after wave {wave + 1} each entity is at the newest version that came"
    evidence.check(sentence, found == newest, shown=found)


SCENARIO: Final = OutOfOrder()
