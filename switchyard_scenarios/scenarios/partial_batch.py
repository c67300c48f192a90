"""7. Some messages of a batch fail."""

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from switchyard_scenarios.harness import behind_lambda
from switchyard_scenarios.harness.harness import Harness
from switchyard_scenarios.harness.workers import Workers
from switchyard_scenarios.producer import Producer, ProducerSwitches
from switchyard_scenarios.reporting.evidence import Evidence
from switchyard_scenarios.reporting.watch import Seen, Watch
from switchyard_scenarios.scenarios.batch_function import FAILURES

GOOD, BAD = 8, 2
IN_A_WORKER: Final = "in a worker"
BEHIND_LAMBDA: Final = "behind a Lambda function"
LAMBDA_SECONDS: Final = 120.0  # on AWS a mapping takes its time before it begins
ALL_OR_NOTHING: Final = "all-or-nothing"
"""The defect that the function can have as well."""


@dataclass(frozen=True)
class Batch:
    queue_url: str
    good: set[str]
    bad: set[str]
    """Messages that fail the first time."""

    @property
    def all(self) -> set[str]:
        return self.good | self.bad


@dataclass(frozen=True)
class PartialBatch:
    name: str = "partial-batch"
    title: str = "Partial batch failure"
    demonstrates: str = (
        "Of a batch only what failed comes again, in a worker and behind a Lambda function."
    )

    def run(self, harness: Harness, workers: Workers, evidence: Evidence) -> None:
        watch = Watch(harness, workers, evidence)
        failing = {"offline": {"fail": {"category": "server-error", "times": 1}}}
        batch = _send("taken", harness, harness.queue_url, good={}, bad=failing)
        workers.start(MAX_CONCURRENT_CLAUDE=len(batch.all), MAX_MESSAGES=len(batch.all))
        behind = self._begin_behind_lambda(harness, evidence)
        seen = watch.until_drained()

        received = workers.journal("received")
        together = [((entry.worker, entry.facts["batch"]), entry.message) for entry in received]
        _check_together(together, batch, IN_A_WORKER, evidence)
        deliveries = Counter(entry.message for entry in received)
        _check_deliveries(deliveries, batch, IN_A_WORKER, evidence)
        _check_completions(seen, batch, IN_A_WORKER, evidence)
        evidence.check("there are no dead letters", seen.dead == 0, shown=seen.dead)
        if behind:
            self._finish_behind_lambda(behind, harness, watch, evidence)

    def _begin_behind_lambda(self, harness: Harness, evidence: Evidence) -> Batch | None:
        if not behind_lambda.role_for(harness):
            evidence.note(f"not run {BEHIND_LAMBDA}", "no role was named for the function")
            evidence.count(f"not run {BEHIND_LAMBDA}", GOOD + BAD)
            return None
        url = behind_lambda.a_queue_for_it(harness)
        batch = _send("mapped", harness, url, good={FAILURES: 0}, bad={FAILURES: 1})
        naive = harness.planted == ALL_OR_NOTHING
        behind_lambda.put_behind(url, harness, handler="all_or_nothing" if naive else "handler")
        evidence.note("a function is put behind a queue", harness.names.batch)
        return batch

    def _finish_behind_lambda(
        self, batch: Batch, harness: Harness, watch: Watch, evidence: Evidence
    ) -> None:
        def is_done(seen: Seen) -> bool:
            return batch.all <= set(seen.completed) and not any(
                harness.depth(batch.queue_url).values()
            )

        seen = watch.until("the function has had all", is_done, seconds=LAMBDA_SECONDS)
        rows = {name: row for name, row in seen.statuses.items() if name in batch.all}
        together = [(row["first_batch"], name) for name, row in rows.items()]
        _check_together(together, batch, BEHIND_LAMBDA, evidence)
        deliveries = {name: row["attempts"] for name, row in rows.items()}
        _check_deliveries(deliveries, batch, BEHIND_LAMBDA, evidence)
        _check_completions(seen, batch, BEHIND_LAMBDA, evidence)


def _send(
    prefix: str, harness: Harness, url: str, *, good: Mapping[str, Any], bad: Mapping[str, Any]
) -> Batch:
    def send(kind: str, count: int, said: Mapping[str, Any]) -> set[str]:
        switches = ProducerSwitches(prefix=f"{prefix}-{kind}", input=said)
        return set(Producer(harness.place.client("sqs"), url, switches).send(count).good)

    return Batch(url, good=send("good", GOOD, good), bad=send("bad", BAD, bad))


def _check_together(
    together: Iterable[tuple[Hashable, str]], batch: Batch, where: str, evidence: Evidence
) -> None:
    """Check that batches are mixed; `together` has messages, each with a key of its batch."""
    batches: dict[Hashable, set[str]] = defaultdict(set)
    for key, message in together:
        batches[key].add(message)
    mixed = [found for found in batches.values() if found & batch.good and found & batch.bad]
    sizes = [len(found) for found in batches.values()]
    evidence.check(f"{where}, good and bad ones come in one batch", bool(mixed), shown=sizes)


def _check_deliveries(
    deliveries: Mapping[str, int], batch: Batch, where: str, evidence: Evidence
) -> None:
    evidence.count(f"deliveries {where}", sum(deliveries.values()))
    good = {message: deliveries.get(message, 0) for message in batch.good}
    bad = {message: deliveries.get(message, 0) for message in batch.bad}
    once = set(good.values()) == {1}
    evidence.check(f"{where}, what went well does not come again", once, shown=good)
    twice = set(bad.values()) == {2}
    evidence.check(f"{where}, what failed comes again", twice, shown=bad)


def _check_completions(seen: Seen, batch: Batch, where: str, evidence: Evidence) -> None:
    completed = batch.all & set(seen.completed)
    evidence.check(
        f"{where}, no message is lost",
        completed == batch.all,
        shown=f"{len(completed)} of {len(batch.all)}",
    )


SCENARIO: Final = PartialBatch()
