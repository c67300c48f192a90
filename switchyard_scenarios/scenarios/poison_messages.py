"""4. Messages that no worker can handle."""

from dataclasses import dataclass
from typing import Final

from switchyard.contracts.messages import REQUEST_ID_ATTRIBUTE
from switchyard.contracts.parked_messages import ParkedMessage
from switchyard_scenarios.harness.harness import MAX_RECEIVES, Harness
from switchyard_scenarios.harness.workers import Workers
from switchyard_scenarios.producer import Producer, ProducerSwitches, Sent
from switchyard_scenarios.reporting.evidence import Evidence
from switchyard_scenarios.reporting.watch import Seen, Watch
from switchyard_scenarios.switched.effects import Status

MESSAGES, POISON_PERCENT = 16, 25
FAILING: Final = 2
DEADLY: Final = 2
"""The number of messages that kill every worker that takes them."""
WORKERS: Final = 3
FAILURE: Final = "there is no such customer"


@dataclass(frozen=True)
class PoisonMessages:
    name: str = "poison-messages"
    title: str = "Poison messages"
    demonstrates: str = (
        "What cannot be read is parked, what kills workers ends among the dead letters, and "
        "nothing else does."
    )

    def run(self, harness: Harness, workers: Workers, evidence: Evidence) -> None:
        watch = Watch(harness, workers, evidence)
        deadly = _send(harness, DEADLY, ProducerSwitches(prefix="deadly")).good
        mixed = _send(harness, MESSAGES, ProducerSwitches(poison_percent=POISON_PERCENT))
        script = {"fail": {"category": "validation", "message": FAILURE}}
        failing = _send(
            harness, FAILING, ProducerSwitches(prefix="failing", input={"offline": script})
        ).good
        for _ in range(WORKERS):
            _start(workers)
        for _ in range(DEADLY * MAX_RECEIVES):
            watch.until("another worker has died", lambda seen: seen.workers < WORKERS)
            _start(workers)
        seen = watch.until_drained()

        evidence.count("sent", DEADLY + MESSAGES + FAILING)
        evidence.count("poison", len(mixed.poison))
        _check_poison(mixed, harness, evidence)
        _check_deadly(set(deadly), workers, harness.dead_letters(), evidence)
        _check_failing(set(failing), seen, evidence)
        evidence.check(
            "every good message is completed",
            set(seen.completed) == set(mixed.good),
            shown=f"{len(seen.completed)} of {len(mixed.good)}",
        )


def _send(harness: Harness, count: int, switches: ProducerSwitches) -> Sent:
    return Producer(harness.place.client("sqs"), harness.queue_url, switches).send(count)


def _start(workers: Workers) -> None:
    """Start a worker with one slot: a deadly message takes no other with it."""
    workers.start(
        MAX_CONCURRENT_CLAUDE=1,
        CRASH_RATE=1,
        CRASH_ONLY="deadly",
        VISIBILITY_EXTENSION_AMOUNT=2,
    )


def _check_poison(sent: Sent, harness: Harness, evidence: Evidence) -> None:
    stored = list(map(_request_id, _parked(harness)))
    exactly = sorted(stored) == sorted(sent.poison)
    evidence.check(
        "exactly the poison is parked", exactly, shown=f"{len(stored)} of {len(sent.poison)}"
    )


def _check_deadly(
    deadly: set[str], workers: Workers, dead_letters: list[str], evidence: Evidence
) -> None:
    died = [entry.message for entry in workers.journal("crashed")]
    evidence.count("workers that died", len(died))
    each = sorted(died) == sorted([*deadly] * MAX_RECEIVES)
    evidence.check(f"what kills workers is received {MAX_RECEIVES} times", each, shown=died)
    evidence.check(
        "exactly what kills workers ends among the dead letters",
        sorted(dead_letters) == sorted(deadly),
        shown=dead_letters,
    )


def _check_failing(failing: set[str], seen: Seen, evidence: Evidence) -> None:
    failed = {
        message: row.get("error_reason")
        for message, row in seen.statuses.items()
        if row["status"] == Status.FAILED
    }
    reported = set(failed) == failing and all(FAILURE in str(reason) for reason in failed.values())
    evidence.check("the status says what failed, and why", reported, shown=failed)


def _parked(harness: Harness) -> list[ParkedMessage]:
    s3 = harness.place.client("s3")
    found = [s3.get_object(Bucket=harness.names.bucket, Key=key) for key in harness.parked()]
    return [ParkedMessage.model_validate_json(answer["Body"].read()) for answer in found]


def _request_id(message: ParkedMessage) -> str:
    return message.message_attributes[REQUEST_ID_ATTRIBUTE].string_value or ""


SCENARIO: Final = PoisonMessages()
