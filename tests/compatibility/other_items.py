"""What a stage stores and sends beside its jobs: keys, alerts, triggers, counts, workers."""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

from switchyard.adapters.dynamodb.access.api_keys import DynamoDbApiKeys
from switchyard.adapters.dynamodb.access.limits import DynamoDbRequestRates
from switchyard.adapters.dynamodb.alert_store import DynamoDbAlertStore
from switchyard.adapters.dynamodb.counters import DynamoDbCounters, DynamoDbPublishedMinutes
from switchyard.adapters.dynamodb.definition_store import DynamoDbDefinitionStore
from switchyard.adapters.dynamodb.presence import DynamoDbPauseSwitch, DynamoDbPresence
from switchyard.adapters.dynamodb.submission_keys import (
    DynamoDbDeduplication,
    DynamoDbSubmissionKeys,
)
from switchyard.adapters.dynamodb.table import DynamoDbTable
from switchyard.adapters.dynamodb.trigger_store import DynamoDbTriggerStore
from switchyard.adapters.s3 import S3BlobStore
from switchyard.contracts.sqs_records import DeadLetter
from switchyard.contracts.triggers import TriggerRun
from switchyard.contracts.wire import instant
from switchyard.domain.access.api_keys import Caller
from switchyard.domain.access.limits import RequestLimits
from switchyard.domain.alerts.alerts import Alert
from switchyard.domain.health.presence import PresentWorker
from switchyard.domain.jobs.plan import Pinned
from switchyard.domain.jobs.submission_keys import KeyKind
from switchyard.domain.measuring.counts import Counts, Spending
from switchyard.ports import KeyTaken
from switchyard.testing import ManualClock
from switchyard.usecases.alerts.report_incidents import DueAlerts
from switchyard.usecases.dead_letters.park_message import DeadLetterArchive
from tests.builders import JOB_ID, NOW_MS, TENANT, a_definition
from tests.compatibility.stage import Stage
from tests.fakes.tables import BUCKET
from tests.fakes.triggers import a_message, a_trigger, nightly

HASH: Final = hashlib.sha256(b"a secret").hexdigest()
SUBJECT: Final = f"job/{TENANT}/{JOB_ID}"
_FULL_DEFINITION: Final[dict[str, Any]] = {
    "maxTurns": 20,
    "tools": ["Read", "WebFetch"],
    "timeout": 120_000,
    "inputSchema": {"type": "object"},
    "maxCostUsd": 0.5,
    "retry": {"maxAttempts": 2},
    "health": {
        "silentWarning": 60_000,
        "silentCritical": 120_000,
        "overtime": 300_000,
        "progress": 60_000,
        "repeats": 5,
    },
    "model": "claude-opus-4-6",
    "backend": "offline",
    "steps": [
        {
            "name": "read",
            "description": "Read the page.",
            "outputSchema": {"type": "object"},
            "outputFile": "page.json",
            "maxTurns": 3,
            "tools": ["WebFetch"],
            "timeout": 60_000,
            "processOutput": "trim",
        },
        {"name": "tell", "description": "Tell what {{steps.read}} says."},
    ],
}


class OtherItems:
    """Writes them with the adapters that a stage writes them with."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self._table = DynamoDbTable(stage.cloud.dynamodb, stage.cloud.state)
        self._blobs = S3BlobStore(stage.cloud.s3, BUCKET)

    def write(self) -> None:
        self._keys()
        self._alerts()
        self._triggers()
        self._measurements()
        self._definitions()
        self._parked()

    def messages(self) -> Iterator[tuple[str, str]]:
        """Return messages of queues that a simulated stage does not have, by the queue's name."""
        yield "trigger", a_message()
        yield "trigger", a_message(trigger="nightly")
        sent: list[str] = []
        DueAlerts(
            store=DynamoDbAlertStore(self._table),
            queue_sender=_RecordingSender(sent),
            queue="alerts",
            clock=ManualClock(NOW_MS + 10**9),
        ).send_due()
        yield from (("alerts", body) for body in sent)

    def _keys(self) -> None:
        keys = DynamoDbApiKeys(self._table)
        keys.add(TENANT, HASH, label="nightly build", now_ms=NOW_MS)
        keys.note_use(TENANT, HASH, day="2027-01-15")
        keys.revoke(TENANT, HASH, now_ms=NOW_MS + 1)
        keys.add(TENANT, HASH[::-1], label=None, now_ms=NOW_MS)
        limits = RequestLimits(per_second=5, burst=10, per_day=1_000)
        for _ in range(2):
            DynamoDbRequestRates(self._table).take(
                Caller(TENANT, HASH[:12]), limits=limits, now_ms=NOW_MS
            )
        submissions = DynamoDbSubmissionKeys(self._table)
        taken = KeyTaken(
            job_id=JOB_ID,
            body_hash=HASH,
            created_at_ms=NOW_MS,
            pinned={"scrape": Pinned(1, 2)},
            trace=None,
        )
        submissions.take(TENANT, "order-1", taken)
        submissions.take(TENANT, "uploads/1", replace(taken, pinned=None), kind=KeyKind.TRIGGER)
        DynamoDbDeduplication(self._table).first(HASH, now_ms=NOW_MS, keep_ms=900_000)

    def _alerts(self) -> None:
        store = DynamoDbAlertStore(self._table)
        lease = store.lease
        taken = lease(Alert(key=SUBJECT), now_ms=NOW_MS)
        assert taken is not None
        emitted = replace(
            taken,
            fingerprint="failed",
            open=True,
            channel="C024BE91L",
            pages=("1700000000.000100",),
            trying_since_ms=None,
            due_at_ms=None,
            lease_until_ms=0,
        )
        assert store.save(emitted)
        postponed = replace(
            emitted, postponed_since_ms=NOW_MS, wait_until_ms=NOW_MS + 600_000, due_at_ms=NOW_MS
        )
        assert store.save(postponed)
        store.request_update(SUBJECT, now_ms=NOW_MS)
        hook = lease(Alert(key=f"{SUBJECT}@https://hooks.example.com/x"), now_ms=NOW_MS)
        assert hook is not None
        over = replace(
            hook, open=False, tried="over", due_at_ms=None, forget_at_ms=NOW_MS + 86_400_000
        )
        assert store.save(over)

    def _triggers(self) -> None:
        store = DynamoDbTriggerStore(self._table)
        store.put(TENANT, a_trigger(description="Uploads."), now_ms=NOW_MS)
        at = instant(NOW_MS)
        assert at is not None
        store.note_run(TENANT, "uploads", TriggerRun(at=at, event_id="e-1", job_id=JOB_ID))
        store.put(TENANT, nightly(), now_ms=NOW_MS)
        store.note_run(TENANT, "nightly", TriggerRun(at=at, event_id="e-2", error="no such task"))
        store.switch(TENANT, "nightly", on=False, now_ms=NOW_MS)
        store.put(TENANT, a_trigger("removed"), now_ms=NOW_MS)
        store.remove(TENANT, "removed", now_ms=NOW_MS)
        chained = {"bus": "switchyard", "pattern": {"source": ["x"]}, "chained": True}
        store.put(TENANT, a_trigger("chained", on=chained), now_ms=NOW_MS)

    def _measurements(self) -> None:
        counters = DynamoDbCounters(self._table)
        spent = Spending(
            cost_micro_usd=12_500, input_tokens=1_200, output_tokens=340, cache_read_tokens=50
        )
        counters.add(
            NOW_MS,
            Counts(
                claims=3,
                completions=1,
                failures=1,
                failed_attempts=1,
                timeouts=1,
                timed=2,
                processing_ms=6_000,
                by_definition={"scrape": spent},
            ),
        )
        DynamoDbPublishedMinutes(self._table).take(until_ms=NOW_MS, at_most_ms=60_000)
        presence = DynamoDbPresence(self._table)
        worker = PresentWorker(
            worker_id="worker-1",
            started_at_ms=NOW_MS,
            seen_at_ms=NOW_MS,
            slots=3,
            busy=1,
            version=_version(),
        )
        presence.seen(worker)
        presence.seen(replace(worker, worker_id="worker-2"))
        presence.left("worker-2", now_ms=NOW_MS)
        pause_switch = DynamoDbPauseSwitch(self._table)
        pause_switch.pause(now_ms=NOW_MS, reason="an incident")

    def _definitions(self) -> None:
        table = DynamoDbTable(self._stage.cloud.dynamodb, self._stage.cloud.definitions)
        store = DynamoDbDefinitionStore(table)
        store.put(
            TENANT,
            "research",
            type(a_definition()).model_validate(
                {"description": "Research.", "tag": "researcher"} | _FULL_DEFINITION
            ),
        )
        one_step = {"outputSchema": {"type": "object"}, "processOutput": "trim"}
        store.put(
            TENANT,
            "gone",
            type(a_definition()).model_validate(
                {"description": "Old.", "tag": "researcher"} | one_step
            ),
        )
        store.delete(TENANT, "gone", now_ms=NOW_MS)

    def _parked(self) -> None:
        archive = DeadLetterArchive(blobs=self._blobs, clock=ManualClock(NOW_MS))
        event = {"detail": {"eventType": "Task Completed", "entityId": "x", "tenantId": TENANT}}
        noted = {
            "ERROR_CODE": {"dataType": "String", "stringValue": "SDK_CLIENT_ERROR"},
            "ERROR_MESSAGE": {"dataType": "String", "stringValue": "no such queue"},
            "TARGET_ARN": {"dataType": "String", "stringValue": "arn:aws:sqs:eu-west-1:1:dispatch"},
        }
        archive.park(DeadLetter.model_validate(_letter(json.dumps(event), noted)))
        moved = {"DeadLetterQueueSourceArn": "arn:aws:sqs:eu-west-1:1:event-queue-dev"}
        archive.park(DeadLetter.model_validate(_letter("{", {}, number=2, **moved)))


class _RecordingSender:
    def __init__(self, sent: list[str]) -> None:
        self._sent = sent

    def send(self, _queue: str, body: str, _attributes: object) -> None:
        self._sent.append(body)


def _letter(body: str, noted: dict[str, Any], *, number: int = 1, **moved: str) -> dict[str, Any]:
    times = {"SentTimestamp": str(NOW_MS), "ApproximateFirstReceiveTimestamp": str(NOW_MS + 5)}
    return {
        "messageId": f"00000000-0000-4000-8000-{number:012}",
        "eventSourceARN": "arn:aws:sqs:eu-west-1:123456789012:event-queue-dlq-dev",
        "attributes": times | moved,
        "messageAttributes": noted,
        "body": body,
    }


def _version() -> str:
    from switchyard import VERSION  # noqa: PLC0415 - that of the sources that record

    return VERSION
