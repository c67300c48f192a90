"""4. Messages that nobody can handle."""

from dataclasses import dataclass
from typing import Final

from scenarios.effects import Status
from scenarios.evidence import Evidence
from scenarios.observing import Seen, Watch
from scenarios.producer import Producer, ProducerSwitches, Sent
from scenarios.workers import Workers
from scenarios.yard import MAX_RECEIVES, Yard
from switchyard.contracts.messages import REQUEST_ID_ATTRIBUTE
from switchyard.contracts.quarantine import QuarantinedMessage

MESSAGES, POISON_PERCENT = 16, 25
FAILING: Final = 2
DEADLY: Final = 2
"""They kill every worker that takes them."""
WORKERS: Final = 3
FAILURE: Final = "there is no such customer"


@dataclass(frozen=True)
class PoisonMessages:
    name: str = "poison-messages"
    title: str = "Poison messages"
    what_it_shows: str = (
        "What cannot be read is put aside, what kills workers ends among the dead letters, and "
        "nothing else does."
    )

    def run(self, yard: Yard, workers: Workers, evidence: Evidence) -> None:
        watch = Watch(yard, workers, evidence)
        deadly = _send(yard, DEADLY, ProducerSwitches(prefix="deadly")).good
        mixed = _send(yard, MESSAGES, ProducerSwitches(poison_percent=POISON_PERCENT))
        script = {"fail": {"category": "validation", "message": FAILURE}}
        failing = _send(
            yard, FAILING, ProducerSwitches(prefix="failing", input={"offline": script})
        ).good
        for _ in range(WORKERS):
            _start(workers)
        for _ in range(DEADLY * MAX_RECEIVES):
            watch.until("another worker has died", lambda seen: seen.workers < WORKERS)
            _start(workers)
        seen = watch.until_drained()

        evidence.count("sent", DEADLY + MESSAGES + FAILING)
        evidence.count("poison", len(mixed.poison))
        _check_poison(mixed, yard, evidence)
        _check_deadly(set(deadly), workers, yard.letters(), evidence)
        _check_failing(set(failing), seen, evidence)
        evidence.check(
            "every good message is completed",
            set(seen.completed) == set(mixed.good),
            shown=f"{len(seen.completed)} of {len(mixed.good)}",
        )


def _send(yard: Yard, count: int, switches: ProducerSwitches) -> Sent:
    return Producer(yard.place.client("sqs"), yard.queue_url, switches).send(count)


def _start(workers: Workers) -> None:
    """With one slot: a deadly message takes no other with it."""
    workers.start(
        MAX_CONCURRENT_CLAUDE=1,
        CRASH_RATE=1,
        CRASH_ONLY="deadly",
        VISIBILITY_EXTENSION_AMOUNT=2,
    )


def _check_poison(sent: Sent, yard: Yard, evidence: Evidence) -> None:
    kept = list(map(_request_id, _put_aside(yard)))
    exactly = sorted(kept) == sorted(sent.poison)
    evidence.check(
        "exactly the poison is put aside", exactly, shown=f"{len(kept)} of {len(sent.poison)}"
    )


def _check_deadly(
    deadly: set[str], workers: Workers, letters: list[str], evidence: Evidence
) -> None:
    died = [entry.message for entry in workers.journal("crashed")]
    evidence.count("workers that died", len(died))
    each = sorted(died) == sorted([*deadly] * MAX_RECEIVES)
    evidence.check(f"what kills workers is received {MAX_RECEIVES} times", each, shown=died)
    evidence.check(
        "exactly what kills workers ends among the dead letters",
        sorted(letters) == sorted(deadly),
        shown=letters,
    )


def _check_failing(failing: set[str], seen: Seen, evidence: Evidence) -> None:
    failed = {
        message: row.get("error_reason")
        for message, row in seen.statuses.items()
        if row["status"] == Status.FAILED
    }
    told = set(failed) == failing and all(FAILURE in str(reason) for reason in failed.values())
    evidence.check("the status tells what failed, and why", told, shown=failed)


def _put_aside(yard: Yard) -> list[QuarantinedMessage]:
    s3 = yard.place.client("s3")
    found = [s3.get_object(Bucket=yard.names.bucket, Key=key) for key in yard.quarantined()]
    return [QuarantinedMessage.model_validate_json(answer["Body"].read()) for answer in found]


def _request_id(message: QuarantinedMessage) -> str:
    return message.message_attributes[REQUEST_ID_ATTRIBUTE].string_value or ""


SCENARIO: Final = PoisonMessages()
