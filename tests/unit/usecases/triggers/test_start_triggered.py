"""An event and a trigger make one whole job, or none and a parked event."""

import json
from typing import Any

import pytest

from switchyard.contracts.jobs import SubmitJob
from switchyard.contracts.triggers import message_template
from switchyard.domain.errors import NewerVersion, Unavailable
from switchyard.domain.jobs.plan import JobPlan
from switchyard.usecases.triggers.start_triggered import Dropped, Parked, Started
from tests.builders import NOW_MS, TENANT, a_definition
from tests.fakes.harnesses.triggered_harness import ON_JOBS, REPORT, TriggeredHarness
from tests.fakes.triggers import (
    EVENT_ID,
    NIGHTLY_JOB,
    S3_EVENT,
    SCHEDULED,
    a_message,
    a_trigger,
    nightly,
)

YEAR_SECONDS = 366 * 24 * 3600


def test_an_event_starts_the_job_of_its_trigger() -> None:
    harness = TriggeredHarness(a_trigger())
    job = harness.started(a_message())
    assert job.name == "upload uploads/orders.csv"
    assert job.tags == {"bucket": "inbox", "trigger": "uploads"}
    read = job.ref.task("read")
    assert harness.memory.state.payloads[read].input == {"size": 5}
    run = harness.last_run()
    assert run is not None
    assert (run.job_id, run.event_id, run.error) == (job.ref.job_id, EVENT_ID, None)


def test_however_often_an_event_comes_it_starts_one_job() -> None:
    harness = TriggeredHarness(a_trigger())
    first = harness.start(a_message(), "m-1")
    harness.clock.advance(5)
    noted = harness.last_run()
    assert [harness.start(a_message(), "m-2"), harness.start(a_message(), "m-3")] == [first, first]
    assert harness.jobs == 1
    assert harness.last_run() == noted


def test_another_event_starts_another_job() -> None:
    harness = TriggeredHarness(a_trigger())
    harness.started(a_message())
    harness.started(a_message(S3_EVENT | {"id": "another"}))
    assert harness.jobs == 2


def test_two_triggers_for_one_event_start_a_job_each() -> None:
    harness = TriggeredHarness(a_trigger(), a_trigger("second"))
    harness.started(a_message())
    harness.started(a_message(trigger="second"))
    assert harness.jobs == 2


def test_an_event_that_comes_again_after_the_trigger_was_changed_starts_nothing() -> None:
    harness = TriggeredHarness(a_trigger())
    job = harness.started(a_message())
    harness.store.put(TENANT, a_trigger(job=REPORT), now_ms=NOW_MS)
    assert harness.started(a_message()) == job
    assert (harness.jobs, harness.stored) == (1, [])


def test_a_schedule_starts_one_job_for_each_time_it_is_due() -> None:
    harness = TriggeredHarness(nightly())
    job = harness.started(a_message(SCHEDULED, trigger="nightly"))
    assert job.name == "night of 2026-11-16T08:00:00Z"
    twice = harness.started(a_message(SCHEDULED | {"id": "told-twice"}, trigger="nightly"))
    assert twice == job
    harness.started(a_message(SCHEDULED | {"time": "2026-11-17T08:00:00Z"}, trigger="nightly"))
    assert harness.jobs == 2


@pytest.mark.parametrize("how", ["removed", "disabled", "unknown"])
def test_what_comes_for_a_trigger_that_is_off_is_dropped(how: str) -> None:
    harness = TriggeredHarness(a_trigger())
    if how == "removed":
        harness.store.remove(TENANT, "uploads", now_ms=NOW_MS)
    elif how == "disabled":
        harness.store.switch(TENANT, "uploads", on=False, now_ms=NOW_MS)
    body = a_message(trigger="nobodys") if how == "unknown" else a_message()
    assert isinstance(harness.start(body), Dropped)
    assert (harness.jobs, harness.stored) == (0, [])


NO_TASKS = {"name": "x", "tasks": []}
UNREGISTERED = {"tasks": [{"taskId": "a", "name": "nobody-knows"}]}
WRONG_TYPE = {"tags": {"size": "{{event.detail.object.size}}"}, "tasks": REPORT["tasks"]}
LACKING = {"name": "{{event.detail.nobody}}", "tasks": REPORT["tasks"]}


@pytest.mark.parametrize(
    ("job", "words"),
    [
        (LACKING, "uploads: {{event.detail.nobody}} has no value: event.detail has no 'nobody'"),
        (WRONG_TYPE, "uploads: tags.size: should be a text: put a number in quotes"),
        (NO_TASKS, "uploads: tasks: a job has 1 to 10,000 tasks, this one 0"),
        (UNREGISTERED, "uploads: tasks.0.name: 'nobody-knows' is not a registered task definition"),
    ],
)
def test_a_job_that_cannot_be_made_is_noted_and_its_event_parked(
    job: dict[str, Any], words: str
) -> None:
    harness = TriggeredHarness(a_trigger(job=job))
    done = harness.start(a_message())
    assert isinstance(done, Parked)
    assert (done.trigger, done.reason) == ("uploads", words)
    run = harness.last_run()
    assert run is not None
    assert (run.error, run.job_id, run.event_id) == (words, None, EVENT_ID)
    assert harness.stored == [done.key]
    assert harness.jobs == 0


def test_once_its_cause_is_fixed_a_parked_event_starts_its_job() -> None:
    harness = TriggeredHarness(a_trigger(job=UNREGISTERED))
    assert isinstance(harness.start(a_message()), Parked)
    harness.memory.definitions.put(TENANT, "nobody-knows", a_definition())
    harness.started(a_message())


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("no JSON", "body: "),
        ("{}", "tenantId: Field required"),
        (a_message({"time": "now"}), "id: Field required"),
        (a_message(S3_EVENT | {"id": "with space"}), "id: Value error"),
        (a_message(tenant="UPPER"), "tenantId: "),
        (a_message().replace('"schema": 1', '"schema": 0'), "schema: "),
    ],
)
def test_a_message_that_no_rule_would_send_is_parked(body: str, words: str) -> None:
    harness = TriggeredHarness(a_trigger())
    done = harness.start(body)
    assert isinstance(done, Parked)
    assert done.trigger is None
    assert words in done.reason
    assert harness.stored == [done.key]


def test_a_message_of_a_newer_version_comes_back_and_is_not_parked() -> None:
    harness = TriggeredHarness(a_trigger())
    with pytest.raises(NewerVersion, match="schema 3"):
        harness.start(a_message().replace('"schema": 1', '"schema": 3'))
    assert harness.stored == []


def test_what_switchyard_wrote_itself_starts_nothing() -> None:
    harness = TriggeredHarness(a_trigger())
    detail = {"bucket": {"name": "ours"}, "object": {"key": "task/logs/x/1/a.json", "size": 1}}
    assert isinstance(harness.start(a_message(S3_EVENT | {"detail": detail})), Dropped)
    own_upload = detail | {"object": {"key": "uploads/x", "size": 1}}
    harness.started(a_message(S3_EVENT | {"detail": own_upload}))


def test_an_outage_brings_the_event_back(monkeypatch: pytest.MonkeyPatch) -> None:
    harness = TriggeredHarness(a_trigger())

    def fail(*_: Any, **__: Any) -> None:
        raise Unavailable("throttled")

    with monkeypatch.context() as outage:
        outage.setattr(harness.memory.bus, "put", fail)
        with pytest.raises(Unavailable):
            harness.start(a_message())
        assert (harness.last_run(), harness.stored) == (None, [])
    harness.started(a_message())
    assert harness.jobs == 1


def test_a_job_of_which_nothing_could_be_written_is_started_by_the_trigger_as_it_is_now(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    harness = TriggeredHarness(a_trigger())

    def fail(*_: Any, **__: Any) -> None:
        raise Unavailable("throttled")

    with monkeypatch.context() as outage:
        outage.setattr(type(harness.memory.intake), "write", fail)
        with pytest.raises(Unavailable):
            harness.start(a_message())
    harness.memory.definitions.put(TENANT, "other", a_definition())
    task = {"taskId": "tell", "name": "other"}
    harness.store.put(TENANT, a_trigger(job=REPORT | {"tasks": [task]}), now_ms=NOW_MS)
    job = harness.started(a_message())
    assert (job.name, harness.jobs, harness.stored) == ("report", 1, [])


def test_who_was_overtaken_by_a_try_with_the_changed_trigger_comes_back_for_that_job(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    harness = TriggeredHarness(a_trigger())
    write, others = harness.memory.intake.write, []

    def overtaken(plan: JobPlan) -> None:
        monkeypatch.setattr(harness.memory.intake, "write", write)
        harness.store.put(TENANT, a_trigger(job=REPORT), now_ms=NOW_MS)
        others.append(harness.started(a_message()))
        write(plan)

    monkeypatch.setattr(harness.memory.intake, "write", overtaken)
    with pytest.raises(Unavailable, match="is not of this submission"):
        harness.start(a_message())
    assert [harness.started(a_message())] == others
    assert (others[0].name, harness.jobs, harness.stored) == ("report", 1, [])


def test_what_comes_back_after_a_year_starts_no_second_job() -> None:
    harness = TriggeredHarness(a_trigger())
    job = harness.started(a_message())
    harness.clock.advance(YEAR_SECONDS)
    assert harness.started(a_message()) == job
    assert harness.jobs == 1


def test_what_an_archive_replays_starts_nothing() -> None:
    harness = TriggeredHarness(a_trigger())
    done = harness.start(a_message(S3_EVENT | {"replay-name": "of-last-week"}))
    assert isinstance(done, Dropped)
    assert "replay" in done.reason
    assert (harness.jobs, harness.stored) == (0, [])


def test_no_producers_key_is_in_the_way_of_a_trigger() -> None:
    harness = TriggeredHarness(nightly())
    request = SubmitJob.model_validate(REPORT)
    for key in (f"trigger/nightly/{SCHEDULED['time']}", f"nightly/{SCHEDULED['time']}"):
        harness.starter.submitter.submit(TENANT, request, key=key)
    job = harness.started(a_message(SCHEDULED, trigger="nightly"))
    assert job.name == "night of 2026-11-16T08:00:00Z"
    assert harness.jobs == 3


def test_no_event_says_which_triggers_led_to_its_job() -> None:
    job = REPORT | {"tags": "{{event.detail.tags}}"}
    harness = TriggeredHarness(a_trigger(job=job))
    tags = {"trigger": "alarm", "trigger-path": "alarm audit", "own": "1"}
    started = harness.started(a_message(S3_EVENT | {"detail": {"tags": tags}}))
    assert started.tags == {"own": "1", "trigger": "uploads"}


def test_tags_of_an_event_that_leave_no_room_for_ours_are_refused() -> None:
    harness = TriggeredHarness(a_trigger(job=REPORT | {"tags": "{{event.detail.tags}}"}))
    tags = {f"tag-{number}": "x" for number in range(20)}
    done = harness.start(a_message(S3_EVENT | {"detail": {"tags": tags}}))
    assert isinstance(done, Parked)
    assert "tags: " in done.reason


IN_BERLIN = a_trigger(
    "nightly", schedule="cron(0 9 * * ? *)", time_zone="Europe/Berlin", job=NIGHTLY_JOB
)


def test_a_local_schedule_starts_a_job_at_its_local_time_alone() -> None:
    harness = TriggeredHarness(IN_BERLIN)
    at_eight = a_message(SCHEDULED, trigger="nightly")
    at_nine = a_message(SCHEDULED | {"time": "2026-11-16T09:00:00Z"}, trigger="nightly")
    assert isinstance(harness.start(at_eight), Started)
    dropped = harness.start(at_nine)
    assert isinstance(dropped, Dropped)
    assert dropped.reason == "it is not the scheduled time in Europe/Berlin"
    assert harness.jobs == 1


def test_a_local_schedule_that_is_fired_by_hand_starts_a_job_at_any_time() -> None:
    event = json.dumps(SCHEDULED | {"time": "2026-11-16T17:11:00Z"})
    message = message_template("acme", "nightly", event, by_hand=True)
    assert isinstance(TriggeredHarness(IN_BERLIN).start(message), Started)


def test_an_event_of_another_tenant_starts_nothing() -> None:
    harness = TriggeredHarness(a_trigger(on=ON_JOBS, job=REPORT))
    event = S3_EVENT | {"detail": {"tenantId": "other", "eventType": "Job Completed"}}
    dropped = harness.start(a_message(event))
    assert isinstance(dropped, Dropped)
    assert dropped.reason == "the event is of another tenant"
