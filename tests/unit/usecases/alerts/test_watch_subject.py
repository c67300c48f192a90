"""A subject is looked at as it is, whatever woke the watcher."""

import json
from dataclasses import dataclass, field, replace

import pytest

from switchyard.adapters.memory import ManualClock, MemoryYard
from switchyard.adapters.memory.alerts import MemoryAlertBook
from switchyard.adapters.memory.chat import MemoryChat, MemoryDoor
from switchyard.contracts.alerting import NotAWakeUp
from switchyard.contracts.messages import Delivered, TaskMessage
from switchyard.contracts.quarantine import QuarantinedMessage
from switchyard.domain.alerts.alarm_incident import Alarm
from switchyard.domain.alerts.incidents import Incident
from switchyard.domain.ids import bare_task
from switchyard.domain.jobs.job import Job
from switchyard.domain.jobs.notify import Notify
from switchyard.domain.states import JobState, TaskState
from switchyard.usecases.alerts.tell_alone import Telling
from switchyard.usecases.alerts.tell_incident import Teller
from switchyard.usecases.alerts.watch_letters import LettersWatch
from switchyard.usecases.alerts.watch_subject import SubjectWatch
from tests.builders import JOB, JOB_ID, NOW_MS, TENANT, a_task
from tests.fakes.slack_text import shown

SUBJECT = f"job/{TENANT}/{JOB_ID}"
ALARM = Alarm(name="switchyard-dev-x", raised=True, meaning="It is broken.", reason="1 > 0")
NOTIFY = Notify(channel="#theirs")
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
    made: list[tuple[Notify | None, Incident]] = field(default_factory=list)
    waiting: bool = True

    def has_news(self, notify: Notify | None, incident: Incident, *, tenant: str) -> bool:
        return notify is not None and self.waiting

    def escalate(self, notify: Notify | None, incident: Incident, *, tenant: str) -> None:
        self.made.append((notify, incident))


class KnownAlarms(dict[str, Alarm]):
    def find(self, name: str) -> Alarm | None:
        return self.get(name)


class Watched:
    def __init__(self) -> None:
        self.clock = ManualClock(NOW_MS)
        self.yard = MemoryYard(self.clock)
        self.chat = MemoryChat(now_ms=NOW_MS)
        self.alarms = KnownAlarms()
        self.escalations = Escalations()
        self.watch = SubjectWatch(
            teller=Teller(
                book=MemoryAlertBook(),
                door=MemoryDoor(self.chat),
                channel="#ops",
                clock=self.clock,
            ),
            escalator=self.escalations,
            jobs=self.yard.jobs,
            tasks=self.yard.graph,
            letters=LettersWatch(blobs=self.yard.blobs, stage="dev"),
            alarms=self.alarms,
            stage="dev",
        )

    def put(self, job: Job) -> None:
        self.yard.state.jobs[JOB] = job
        task = a_task(state=TaskState.FAILED, last_error="no such host")
        self.yard.state.tasks[task.ref] = task

    def look(self, subject: str) -> Telling:
        return self.watch.look_at(subject).telling

    @property
    def seen(self) -> list[str]:
        return [shown(message.page.blocks) for message in self.chat.messages.values()]


@pytest.fixture
def watched() -> Watched:
    return Watched()


def put_aside(watched: Watched, number: int, body: str) -> str:
    message = Delivered(body=body, message_id=f"m-{number}", sent_at_ms=NOW_MS)
    kept = QuarantinedMessage.of(
        message, reason="no such task", queue="switchyard-dev-task-queue", kept_at=NOW_MS + number
    )
    content = kept.model_dump_json(by_alias=True).encode()
    watched.yard.blobs.put(kept.key, content, content_type="application/json")
    return kept.key


def test_a_failed_job_is_told_with_its_tasks_and_once(watched: Watched) -> None:
    watched.put(A_JOB)
    assert watched.look(SUBJECT) is Telling.POSTED
    assert watched.look(SUBJECT) is Telling.UNCHANGED
    (seen,) = watched.seen
    assert "no such host" in seen
    assert f"switchyard redrive {JOB_ID} --stage dev" in seen


def test_a_job_that_completed_after_a_redrive_is_told_to_be_over(watched: Watched) -> None:
    watched.put(A_JOB)
    watched.look(SUBJECT)
    watched.put(replace(A_JOB, run=2, state=JobState.COMPLETED, failure_detected_at_ms=None))
    assert watched.look(SUBJECT) is Telling.RECOVERED


def test_late_and_early_events_tell_what_is_and_not_what_was(watched: Watched) -> None:
    """Job Failure Detected arrives when the job has long completed."""
    watched.put(replace(A_JOB, state=JobState.COMPLETED))
    assert watched.look(SUBJECT) is Telling.UNCHANGED
    assert watched.seen == []


def test_a_job_that_never_failed_costs_one_read(
    watched: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    watched.put(replace(A_JOB, state=JobState.COMPLETED, failure_detected_at_ms=None))
    monkeypatch.delattr(MemoryAlertBook, "find")
    monkeypatch.delattr(type(watched.yard.jobs), "picture")
    assert watched.look(SUBJECT) is Telling.UNCHANGED


def test_a_job_that_was_told_of_is_not_read_whole_again(
    watched: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A redrive of thousands of tasks wakes the watcher for each."""
    watched.put(A_JOB)
    watched.look(SUBJECT)
    monkeypatch.delattr(type(watched.yard.jobs), "picture")
    assert watched.look(SUBJECT) is Telling.UNCHANGED


def test_a_job_that_does_not_exist_is_no_incident(watched: Watched) -> None:
    assert watched.look(SUBJECT) is Telling.UNCHANGED


def test_a_job_that_is_gone_is_over_and_nobody_looks_for_it_for_ever(watched: Watched) -> None:
    watched.put(A_JOB)
    watched.look(SUBJECT)
    del watched.yard.state.jobs[JOB]
    assert watched.look(SUBJECT) is Telling.RECOVERED


def test_a_redrive_of_a_job_that_never_failed_is_nobodys_concern(watched: Watched) -> None:
    """Somebody cancelled it, and thought better of it."""
    redriven = replace(A_JOB, run=2, state=JobState.OPEN, failure_detected_at_ms=None)
    watched.put(redriven)
    assert watched.look(SUBJECT) is Telling.UNCHANGED
    watched.put(replace(redriven, state=JobState.FAILED, failure_detected_at_ms=NOW_MS))
    assert watched.look(SUBJECT) is Telling.POSTED
    watched.put(replace(redriven, run=3))
    assert watched.look(SUBJECT) is Telling.UPDATED
    assert watched.seen[0].startswith("# 🟡 A failed job is being redriven")


def test_whom_a_job_names_is_told_as_well_as_long_as_there_is_something_to_tell(
    watched: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    watched.put(replace(A_JOB, notify=NOTIFY))
    watched.look(SUBJECT)
    watched.look(SUBJECT)
    told = [(notify, incident.subject) for notify, incident in watched.escalations.made]
    assert told == [(NOTIFY, SUBJECT)] * 2
    assert "no such host" in str(watched.escalations.made[-1][1])
    watched.escalations.waiting = False
    monkeypatch.delattr(type(watched.yard.jobs), "picture")
    assert watched.look(SUBJECT) is Telling.UNCHANGED


def test_a_task_without_a_job_that_failed_is_told_once(watched: Watched) -> None:
    ref = bare_task(TENANT, "order-7")
    task = a_task(ref=ref, state=TaskState.TIMED_OUT, last_error="it took too long")
    watched.yard.state.tasks[ref] = task
    subject = f"task/{TENANT}/order-7"
    assert [watched.look(subject) for _ in range(3)] == [
        Telling.POSTED,
        Telling.UNCHANGED,
        Telling.UNCHANGED,
    ]
    (seen,) = watched.seen
    assert "request: `order-7`" in seen
    assert "it took too long" in seen


def test_a_task_without_a_job_that_did_not_fail_is_no_incident(watched: Watched) -> None:
    ref = bare_task(TENANT, "order-7")
    assert watched.look(f"task/{TENANT}/order-7") is Telling.UNCHANGED
    watched.yard.state.tasks[ref] = a_task(ref=ref, state=TaskState.COMPLETED)
    assert watched.look(f"task/{TENANT}/order-7") is Telling.UNCHANGED
    assert watched.seen == []


def test_letters_are_told_as_long_as_there_are_any(watched: Watched) -> None:
    first = put_aside(watched, 1, "not json")
    assert watched.look("letters/quarantine") is Telling.POSTED
    second = put_aside(watched, 2, '{"schema": 9}')
    assert watched.look("letters/quarantine") is Telling.UPDATED
    assert watched.seen[0].startswith("# 🔴 2 messages in quarantine")
    watched.yard.blobs.delete(first)
    watched.yard.blobs.delete(second)
    assert watched.look("letters/quarantine") is Telling.RECOVERED


def test_every_queue_has_an_incident_of_its_own(watched: Watched) -> None:
    """Whatever lies there: what cannot be read is counted, and said to be unreadable."""
    for queue in ("switchyard-dev-event-queue-dlq", "event-queue-dlq-dev-2"):
        key = f"undeliverable/{queue}/2027-01-15/m.json"
        watched.yard.blobs.put(key, b"{}", content_type="application/json")
    assert watched.look("letters/switchyard-dev-event-queue-dlq") is Telling.POSTED
    (seen,) = watched.seen
    assert seen.startswith("# 🔴 1 message undeliverable, from switchyard-dev-event-queue-dlq\n")
    assert "is no message that was kept" in seen


def test_whom_the_job_of_a_letter_names_is_told_of_that_letter_alone(watched: Watched) -> None:
    watched.put(replace(A_JOB, notify=NOTIFY))
    wake_up = TaskMessage.to(JOB.task("gone"), run=1).model_dump_json(by_alias=True)
    key = put_aside(watched, 1, wake_up)
    put_aside(watched, 2, json.dumps({"name": "another"}))
    watched.look("letters/quarantine")
    ((notify, incident),) = watched.escalations.made
    assert (notify, incident.title) == (NOTIFY, "1 message in quarantine")
    assert incident.subject == f"letters/quarantine/{TENANT}/{JOB_ID}"
    watched.yard.blobs.delete(key)
    watched.look(incident.subject)
    assert not watched.escalations.made[-1][1].open
    put_aside(watched, 3, wake_up)
    watched.look("letters/quarantine")
    assert watched.escalations.made[-1][1].fingerprint != incident.fingerprint


def test_an_alarm_is_told_as_cloudwatch_shows_it_and_not_as_an_event_said(
    watched: Watched,
) -> None:
    watched.alarms[ALARM.name] = ALARM
    assert watched.look(f"alarm/{ALARM.name}") is Telling.POSTED
    assert "It is broken." in watched.seen[0]
    watched.alarms[ALARM.name] = replace(ALARM, raised=False)
    assert watched.look(f"alarm/{ALARM.name}") is Telling.RECOVERED


def test_an_alarm_that_was_removed_is_over(watched: Watched) -> None:
    watched.alarms[ALARM.name] = ALARM
    watched.look(f"alarm/{ALARM.name}")
    del watched.alarms[ALARM.name]
    assert watched.look(f"alarm/{ALARM.name}") is Telling.RECOVERED


def test_what_nobody_watches_is_not_looked_at(watched: Watched) -> None:
    for subject in ("health", f"task/{TENANT}/job-1__a", "task/x"):
        with pytest.raises(NotAWakeUp):
            watched.look(subject)
