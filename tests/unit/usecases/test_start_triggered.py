"""An event and a trigger make a job: one, whole, or none that somebody is told of."""

from typing import Any

import pytest

from switchyard.adapters.memory import ManualClock, MemoryYard
from switchyard.adapters.memory.triggers import MemoryTriggerStore
from switchyard.contracts.messages import Delivered
from switchyard.contracts.triggers import Trigger, TriggerRun
from switchyard.domain.errors import Unavailable
from switchyard.domain.ids import JobRef
from switchyard.domain.job import Job
from switchyard.usecases.quarantine import Quarantine
from switchyard.usecases.start_triggered import Dropped, PutAside, Started, TriggerStarter
from tests.builders import NOW_MS, TENANT, a_definition
from tests.fakes.submitting import a_submitter
from tests.fakes.triggers import EVENT_ID, S3_EVENT, SCHEDULED, a_message, a_trigger, nightly

ON_JOBS = {"bus": "switchyard", "pattern": {"detail": {"eventType": ["Job Completed"]}}}
REPORT = {"name": "report", "tasks": [{"taskId": "tell", "name": "scrape"}]}


class CountedIds:
    def __init__(self) -> None:
        self.given = 0

    def new_job_id(self) -> str:
        self.given += 1
        return f"job-00000000-0000-4000-8000-{self.given:012}"

    def new_worker_id(self) -> str:
        return "worker-1"

    def new_secret(self) -> str:
        return "secret"


class TriggeredYard:
    def __init__(self, *triggers: Trigger) -> None:
        self.clock = ManualClock(NOW_MS)
        self.memory = MemoryYard(self.clock)
        self.memory.definitions.put(TENANT, "scrape", a_definition())
        self.store = MemoryTriggerStore()
        for trigger in triggers:
            self.store.put(TENANT, trigger, now_ms=NOW_MS)
        self.starter = TriggerStarter(
            triggers=self.store,
            jobs=self.memory.jobs,
            submitter=a_submitter(self.memory, clock=self.clock, ids=CountedIds()),
            quarantine=Quarantine(
                blobs=self.memory.blobs, clock=self.clock, queue="trigger-queue-test"
            ),
            clock=self.clock,
            bucket="ours",
        )

    def start(self, body: str, message_id: str = "m-1") -> Started | Dropped | PutAside:
        message = Delivered(body=body, message_id=message_id, sent_at_ms=NOW_MS)
        return self.starter.start(message)

    def started(self, body: str) -> Job:
        done = self.start(body)
        assert isinstance(done, Started), done
        job = self.memory.jobs.find(JobRef(TENANT, done.job_id))
        assert job is not None
        return job

    def last_run(self, name: str = "uploads") -> TriggerRun | None:
        found = self.store.find(TENANT, name)
        assert found is not None
        return found.last_run

    @property
    def kept(self) -> list[str]:
        return [key for key in self.memory.blobs.blobs if key.startswith("quarantine/")]

    @property
    def jobs(self) -> int:
        return len(self.memory.state.jobs)


def about(job: Job, event_id: str = "e-2") -> dict[str, Any]:
    """That it has completed, as our bus tells it."""
    detail = {"tenantId": TENANT, "entityId": job.ref.job_id, "eventType": "Job Completed"}
    return {"id": event_id, "time": "2026-11-16T08:00:00Z", "detail": detail}


def test_an_event_starts_the_job_of_its_trigger() -> None:
    yard = TriggeredYard(a_trigger())
    job = yard.started(a_message())
    assert job.name == "upload uploads/orders.csv"
    assert job.tags == {"bucket": "inbox", "trigger": "uploads"}
    read = job.ref.task("read")
    assert yard.memory.state.payloads[read].input == {"size": 5}
    run = yard.last_run()
    assert run is not None
    assert (run.job_id, run.event_id, run.error) == (job.ref.job_id, EVENT_ID, None)


def test_however_often_an_event_comes_it_starts_one_job() -> None:
    yard = TriggeredYard(a_trigger())
    first = yard.start(a_message(), "m-1")
    yard.clock.advance(5)
    noted = yard.last_run()
    assert [yard.start(a_message(), "m-2"), yard.start(a_message(), "m-3")] == [first, first]
    assert yard.jobs == 1
    assert yard.last_run() == noted


def test_another_event_starts_another_job() -> None:
    yard = TriggeredYard(a_trigger())
    yard.started(a_message())
    yard.started(a_message(S3_EVENT | {"id": "another"}))
    assert yard.jobs == 2


def test_two_triggers_for_one_event_start_a_job_each() -> None:
    yard = TriggeredYard(a_trigger(), a_trigger("second"))
    yard.started(a_message())
    yard.started(a_message(trigger="second"))
    assert yard.jobs == 2


def test_an_event_that_comes_again_after_the_trigger_was_changed_starts_nothing() -> None:
    yard = TriggeredYard(a_trigger())
    yard.started(a_message())
    yard.store.put(TENANT, a_trigger(job=REPORT), now_ms=NOW_MS)
    done = yard.start(a_message())
    assert isinstance(done, Dropped)
    assert "already" in done.reason
    assert (yard.jobs, yard.kept) == (1, [])


def test_a_schedule_starts_one_job_for_each_time_it_is_due() -> None:
    yard = TriggeredYard(nightly())
    job = yard.started(a_message(SCHEDULED, trigger="nightly"))
    assert job.name == "night of 2026-11-16T08:00:00Z"
    twice = yard.started(a_message(SCHEDULED | {"id": "told-twice"}, trigger="nightly"))
    assert twice == job
    yard.started(a_message(SCHEDULED | {"time": "2026-11-17T08:00:00Z"}, trigger="nightly"))
    assert yard.jobs == 2


@pytest.mark.parametrize("how", ["removed", "disabled", "unknown"])
def test_what_comes_for_a_trigger_that_is_off_is_dropped(how: str) -> None:
    yard = TriggeredYard(a_trigger())
    if how == "removed":
        yard.store.remove(TENANT, "uploads", now_ms=NOW_MS)
    elif how == "disabled":
        yard.store.switch(TENANT, "uploads", on=False, now_ms=NOW_MS)
    body = a_message(trigger="nobodys") if how == "unknown" else a_message()
    assert isinstance(yard.start(body), Dropped)
    assert (yard.jobs, yard.kept) == (0, [])


NO_TASKS = {"name": "x", "tasks": []}
UNREGISTERED = {"tasks": [{"taskId": "a", "name": "nobody-knows"}]}
WRONG_TYPE = {"tags": {"size": "{{event.detail.object.size}}"}, "tasks": REPORT["tasks"]}
LACKING = {"name": "{{event.detail.nobody}}", "tasks": REPORT["tasks"]}


@pytest.mark.parametrize(
    ("job", "words"),
    [
        (LACKING, "uploads: {{event.detail.nobody}} has no value: event.detail has no 'nobody'"),
        (WRONG_TYPE, "uploads: tags.size: input should be a valid string"),
        (NO_TASKS, "uploads: tasks: a job has 1 to 10,000 tasks, this one 0"),
        (UNREGISTERED, "uploads: tasks.0.name: 'nobody-knows' is not a registered task definition"),
    ],
)
def test_a_job_that_cannot_be_made_is_noted_and_kept_for_people(
    job: dict[str, Any], words: str
) -> None:
    yard = TriggeredYard(a_trigger(job=job))
    done = yard.start(a_message())
    assert isinstance(done, PutAside)
    assert (done.trigger, done.reason) == ("uploads", words)
    run = yard.last_run()
    assert run is not None
    assert (run.error, run.job_id, run.event_id) == (words, None, EVENT_ID)
    assert yard.kept == [done.key]
    assert yard.jobs == 0


def test_once_its_cause_is_mended_what_was_kept_starts_its_job() -> None:
    yard = TriggeredYard(a_trigger(job=UNREGISTERED))
    assert isinstance(yard.start(a_message()), PutAside)
    yard.memory.definitions.put(TENANT, "nobody-knows", a_definition())
    yard.started(a_message())


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("no JSON", "body: "),
        ("{}", "tenantId: Field required"),
        (a_message({"time": "now"}), "id: Field required"),
        (a_message(S3_EVENT | {"id": "with space"}), "id: Value error"),
        (a_message(tenant="UPPER"), "tenantId: "),
        (a_message().replace('"schema": 1', '"schema": 2'), "schema: "),
    ],
)
def test_what_no_rule_would_send_is_put_aside(body: str, words: str) -> None:
    yard = TriggeredYard(a_trigger())
    done = yard.start(body)
    assert isinstance(done, PutAside)
    assert done.trigger is None
    assert words in done.reason
    assert yard.kept == [done.key]


def test_a_trigger_does_not_start_itself() -> None:
    yard = TriggeredYard(a_trigger(), a_trigger("report", on=ON_JOBS, job=REPORT))
    uploaded = yard.started(a_message())
    reported = yard.started(a_message(about(uploaded), trigger="report"))
    assert reported.tags == {"trigger": "report", "trigger-path": "uploads"}
    done = yard.start(a_message(about(reported, "e-3"), trigger="report"))
    assert isinstance(done, Dropped)
    assert "this trigger led to (uploads report)" in done.reason
    assert yard.jobs == 2


def test_two_triggers_do_not_start_each_other_for_ever() -> None:
    ping, pong = (a_trigger(name, on=ON_JOBS, job=REPORT) for name in ("ping", "pong"))
    yard = TriggeredYard(a_trigger(), ping, pong)
    job = yard.started(a_message())
    job = yard.started(a_message(about(job, "e-1"), trigger="ping"))
    job = yard.started(a_message(about(job, "e-2"), trigger="pong"))
    assert isinstance(yard.start(a_message(about(job, "e-3"), trigger="ping")), Dropped)


def test_what_switchyard_wrote_itself_starts_nothing() -> None:
    yard = TriggeredYard(a_trigger())
    detail = {"bucket": {"name": "ours"}, "object": {"key": "task/logs/x/1/a.json", "size": 1}}
    assert isinstance(yard.start(a_message(S3_EVENT | {"detail": detail})), Dropped)
    own_upload = detail | {"object": {"key": "uploads/x", "size": 1}}
    yard.started(a_message(S3_EVENT | {"detail": own_upload}))


def test_an_outage_brings_the_event_back(monkeypatch: pytest.MonkeyPatch) -> None:
    yard = TriggeredYard(a_trigger())

    def fail(*_: Any, **__: Any) -> None:
        raise Unavailable("throttled")

    with monkeypatch.context() as outage:
        outage.setattr(yard.memory.bus, "put", fail)
        with pytest.raises(Unavailable):
            yard.start(a_message())
        assert (yard.last_run(), yard.kept) == (None, [])
    yard.started(a_message())
    assert yard.jobs == 1
