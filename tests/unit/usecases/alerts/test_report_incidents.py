"""A subject is read as it is, whatever the message about it says."""

import json
from dataclasses import dataclass, field, replace

import pytest

from switchyard.contracts.alerting import NotAWakeUp
from switchyard.contracts.messages import Delivered, TaskMessage
from switchyard.contracts.parked_messages import ParkedMessage
from switchyard.domain.alerts.alerts import PublishStatus
from switchyard.domain.alerts.incidents import Incident, IncidentState
from switchyard.domain.alerts.stage_incidents import Alarm
from switchyard.domain.alerts.subjects import parse_subject
from switchyard.domain.ids import bare_task
from switchyard.domain.jobs.job import Job
from switchyard.domain.jobs.notify import NotifyTarget
from switchyard.domain.states import JobState, TaskState
from switchyard.testing import ManualClock, MemoryHarness
from switchyard.testing.alerts import MemoryAlertStore
from switchyard.testing.chat import MemoryChat, MemoryConnector
from switchyard.usecases.alerts.post_alerts import AlertPublisher
from switchyard.usecases.alerts.read_dead_letters import DeadLetterReader
from switchyard.usecases.alerts.report_incidents import SubjectChecker
from tests.builders import JOB, JOB_ID, NOW_MS, TENANT, a_task
from tests.fakes.harnesses.held_harness import a_reader
from tests.fakes.slack.text import seen_in_slack

SUBJECT = f"job/{TENANT}/{JOB_ID}"
ALARM = Alarm(name="switchyard-dev-x", raised=True, meaning="It is broken.", reason="1 > 0")
NOTIFY = NotifyTarget(channel="#theirs")
A_JOB = Job(
    ref=JOB,
    name="brand",
    state=JobState.FAILED,
    total_tasks=1,
    created_at_ms=NOW_MS,
    failure_detected_at_ms=NOW_MS,
    failed_task_id="scrape-store",
)


@dataclass
class Escalations:
    made: list[tuple[NotifyTarget | None, Incident]] = field(default_factory=list)
    waiting: bool = True

    def needs_update(
        self, notify: NotifyTarget | None, state: IncidentState, *, tenant: str
    ) -> bool:
        return notify is not None and self.waiting

    def escalate(self, notify: NotifyTarget | None, incident: Incident, *, tenant: str) -> None:
        self.made.append((notify, incident))

    def own_channel(self, notify: NotifyTarget | None, *, tenant: str) -> str | None:
        return notify.channel if notify else None


class KnownAlarms(dict[str, Alarm]):
    def find(self, name: str) -> Alarm | None:
        return self.get(name)


TASK_QUEUE = "switchyard-dev-task-queue"


class Harness:
    def __init__(self) -> None:
        self.clock = ManualClock(NOW_MS)
        self.harness = MemoryHarness(self.clock)
        self.chat = MemoryChat(now_ms=NOW_MS)
        self.alarms = KnownAlarms()
        self.escalations = Escalations()
        self.checker = SubjectChecker(
            alerts=AlertPublisher(
                store=MemoryAlertStore(),
                chats=MemoryConnector(self.chat),
                channel="#ops",
                clock=self.clock,
            ),
            escalator=self.escalations,
            jobs=self.harness.jobs,
            tasks=self.harness.graph,
            held=a_reader(self.harness),
            dead_letters=DeadLetterReader(blobs=self.harness.blobs, stage="dev"),
            alarms=self.alarms,
            stage="dev",
        )

    def put(self, job: Job) -> None:
        self.harness.state.jobs[JOB] = job
        task = a_task(state=TaskState.FAILED, last_error="no such host")
        self.harness.state.tasks[task.ref] = task

    def check(self, subject: str) -> PublishStatus:
        return self.checker.check(parse_subject(subject)).status

    @property
    def seen(self) -> list[str]:
        return [seen_in_slack(message.content) for message in self.chat.messages.values()]


@pytest.fixture
def harness() -> Harness:
    return Harness()


def park(harness: Harness, number: int, body: str) -> str:
    message = Delivered(body=body, message_id=f"m-{number}", sent_at_ms=NOW_MS)
    stored = ParkedMessage.poison(
        message, reason="no such task", queue=TASK_QUEUE, now_ms=NOW_MS + number
    )
    content = stored.model_dump_json(by_alias=True).encode()
    harness.harness.blobs.put(stored.key, content, content_type="application/json")
    return stored.key


def test_a_failed_job_is_posted_with_its_tasks_and_once(harness: Harness) -> None:
    harness.put(A_JOB)
    assert harness.check(SUBJECT) is PublishStatus.POSTED
    assert harness.check(SUBJECT) is PublishStatus.UNCHANGED
    (seen,) = harness.seen
    assert "no such host" in seen
    assert f"switchyard redrive {JOB_ID} --stage dev" in seen


def test_the_incident_of_a_job_that_completed_after_a_redrive_is_over(harness: Harness) -> None:
    harness.put(A_JOB)
    harness.check(SUBJECT)
    harness.put(replace(A_JOB, run=2, state=JobState.COMPLETED, failure_detected_at_ms=None))
    assert harness.check(SUBJECT) is PublishStatus.RECOVERED


def test_late_and_early_events_post_what_is_and_not_what_was(harness: Harness) -> None:
    """Job Failure Detected arrives when the job has long completed."""
    harness.put(replace(A_JOB, state=JobState.COMPLETED))
    assert harness.check(SUBJECT) is PublishStatus.UNCHANGED
    assert harness.seen == []


def test_a_job_that_never_failed_costs_one_read(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    harness.put(replace(A_JOB, state=JobState.COMPLETED, failure_detected_at_ms=None))
    monkeypatch.delattr(MemoryAlertStore, "find")
    monkeypatch.delattr(type(harness.harness.jobs), "picture")
    assert harness.check(SUBJECT) is PublishStatus.UNCHANGED


def test_a_job_that_was_posted_is_not_read_whole_again(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A redrive of thousands of tasks wakes the watcher for each."""
    harness.put(A_JOB)
    harness.check(SUBJECT)
    monkeypatch.delattr(type(harness.harness.jobs), "picture")
    assert harness.check(SUBJECT) is PublishStatus.UNCHANGED


def test_a_job_that_does_not_exist_is_no_incident(harness: Harness) -> None:
    assert harness.check(SUBJECT) is PublishStatus.UNCHANGED


def test_the_incident_of_a_deleted_job_is_over(harness: Harness) -> None:
    harness.put(A_JOB)
    harness.check(SUBJECT)
    del harness.harness.state.jobs[JOB]
    assert harness.check(SUBJECT) is PublishStatus.RECOVERED


def test_a_redrive_of_a_job_that_never_failed_is_no_incident(harness: Harness) -> None:
    """Somebody cancelled it, and thought better of it."""
    redriven = replace(A_JOB, run=2, state=JobState.OPEN, failure_detected_at_ms=None)
    harness.put(redriven)
    assert harness.check(SUBJECT) is PublishStatus.UNCHANGED
    harness.put(replace(redriven, state=JobState.FAILED, failure_detected_at_ms=NOW_MS))
    assert harness.check(SUBJECT) is PublishStatus.POSTED
    harness.put(replace(redriven, run=3))
    assert harness.check(SUBJECT) is PublishStatus.UPDATED
    assert harness.seen[0].startswith("# 🟡 A failed job is being redriven")


def test_an_incident_is_escalated_as_long_as_there_is_an_update(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    harness.put(replace(A_JOB, notify=NOTIFY))
    harness.check(SUBJECT)
    harness.check(SUBJECT)
    emitted = [(notify, str(incident.subject)) for notify, incident in harness.escalations.made]
    assert emitted == [(NOTIFY, SUBJECT)] * 2
    assert "no such host" in str(harness.escalations.made[-1][1])
    harness.escalations.waiting = False
    monkeypatch.delattr(type(harness.harness.jobs), "picture")
    assert harness.check(SUBJECT) is PublishStatus.UNCHANGED


def test_a_failed_task_without_a_job_is_posted_once(harness: Harness) -> None:
    ref = bare_task(TENANT, "order-7")
    task = a_task(ref=ref, state=TaskState.TIMED_OUT, last_error="it took too long")
    harness.harness.state.tasks[ref] = task
    subject = f"task/{TENANT}/order-7"
    assert [harness.check(subject) for _ in range(3)] == [
        PublishStatus.POSTED,
        PublishStatus.UNCHANGED,
        PublishStatus.UNCHANGED,
    ]
    (seen,) = harness.seen
    assert "request: `order-7`" in seen
    assert "it took too long" in seen


def test_a_task_without_a_job_that_did_not_fail_is_no_incident(harness: Harness) -> None:
    ref = bare_task(TENANT, "order-7")
    assert harness.check(f"task/{TENANT}/order-7") is PublishStatus.UNCHANGED
    harness.harness.state.tasks[ref] = a_task(ref=ref, state=TaskState.COMPLETED)
    assert harness.check(f"task/{TENANT}/order-7") is PublishStatus.UNCHANGED
    assert harness.seen == []


def test_dead_letters_are_an_incident_as_long_as_there_are_any(harness: Harness) -> None:
    first = park(harness, 1, "not json")
    assert harness.check(f"letters/{TASK_QUEUE}") is PublishStatus.POSTED
    second = park(harness, 2, '{"schema": 9}')
    assert harness.check(f"letters/{TASK_QUEUE}") is PublishStatus.UPDATED
    assert harness.seen[0].startswith("# 🔴 2 messages parked from switchyard-dev-task-queue")
    harness.harness.blobs.delete(first)
    harness.harness.blobs.delete(second)
    assert harness.check(f"letters/{TASK_QUEUE}") is PublishStatus.RECOVERED


def test_every_queue_has_an_incident_of_its_own(harness: Harness) -> None:
    """Whatever lies there: what cannot be read is counted, and said to be unreadable."""
    for queue in ("switchyard-dev-event-queue-dlq", "event-queue-dlq-dev-2"):
        for prefix in ("parked", "undeliverable"):
            key = f"{prefix}/{queue}/2027-01-15/m.json"
            harness.harness.blobs.put(key, b"{}", content_type="application/json")
    assert harness.check("letters/switchyard-dev-event-queue-dlq") is PublishStatus.POSTED
    (seen,) = harness.seen
    assert seen.startswith("# 🔴 2 messages parked from switchyard-dev-event-queue-dlq\n")
    assert "is not a parked message" in seen


def test_a_dead_letter_of_a_job_is_escalated_to_that_job_alone(harness: Harness) -> None:
    harness.put(replace(A_JOB, notify=NOTIFY))
    wake_up = TaskMessage.to(JOB.task("gone"), run=1).model_dump_json(by_alias=True)
    key = park(harness, 1, wake_up)
    park(harness, 2, json.dumps({"name": "another"}))
    harness.check(f"letters/{TASK_QUEUE}")
    ((notify, incident),) = harness.escalations.made
    assert (notify, incident.title) == (NOTIFY, f"1 message parked from {TASK_QUEUE}")
    assert str(incident.subject) == f"letters/{TASK_QUEUE}/{TENANT}/{JOB_ID}"
    harness.harness.blobs.delete(key)
    harness.check(str(incident.subject))
    assert not harness.escalations.made[-1][1].open
    park(harness, 3, wake_up)
    harness.check(f"letters/{TASK_QUEUE}")
    assert harness.escalations.made[-1][1].fingerprint != incident.fingerprint


def test_an_alarm_is_posted_as_cloudwatch_shows_it_and_not_as_an_event_said(
    harness: Harness,
) -> None:
    harness.alarms[ALARM.name] = ALARM
    assert harness.check(f"alarm/{ALARM.name}") is PublishStatus.POSTED
    assert "It is broken." in harness.seen[0]
    harness.alarms[ALARM.name] = replace(ALARM, raised=False)
    assert harness.check(f"alarm/{ALARM.name}") is PublishStatus.RECOVERED


def test_an_alarm_that_was_removed_is_over(harness: Harness) -> None:
    harness.alarms[ALARM.name] = ALARM
    harness.check(f"alarm/{ALARM.name}")
    del harness.alarms[ALARM.name]
    assert harness.check(f"alarm/{ALARM.name}") is PublishStatus.RECOVERED


def test_health_is_not_checked_for_a_message(harness: Harness) -> None:
    with pytest.raises(NotAWakeUp):
        harness.check("health")
