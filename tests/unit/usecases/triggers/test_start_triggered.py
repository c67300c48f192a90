"""An event and a trigger make a job: one, whole, or none that somebody is told of."""

from typing import Any

import pytest

from switchyard.contracts.jobs import SubmitJob
from switchyard.domain.errors import NewerVersion, Unavailable
from switchyard.domain.jobs.plan import JobPlan
from switchyard.usecases.triggers.start_triggered import Dropped, PutAside
from tests.builders import NOW_MS, TENANT, a_definition
from tests.fakes.triggered_yard import REPORT, TriggeredYard
from tests.fakes.triggers import EVENT_ID, S3_EVENT, SCHEDULED, a_message, a_trigger, nightly

YEAR_SECONDS = 366 * 24 * 3600


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
    job = yard.started(a_message())
    yard.store.put(TENANT, a_trigger(job=REPORT), now_ms=NOW_MS)
    assert yard.started(a_message()) == job
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
        (a_message().replace('"schema": 1', '"schema": 0'), "schema: "),
    ],
)
def test_what_no_rule_would_send_is_put_aside(body: str, words: str) -> None:
    yard = TriggeredYard(a_trigger())
    done = yard.start(body)
    assert isinstance(done, PutAside)
    assert done.trigger is None
    assert words in done.reason
    assert yard.kept == [done.key]


def test_a_message_of_a_newer_version_comes_back_and_is_not_parked() -> None:
    yard = TriggeredYard(a_trigger())
    with pytest.raises(NewerVersion, match="schema 2"):
        yard.start(a_message().replace('"schema": 1', '"schema": 2'))
    assert yard.kept == []


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


def test_a_job_of_which_nothing_could_be_written_is_started_by_the_trigger_as_it_is_now(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    yard = TriggeredYard(a_trigger())

    def fail(*_: Any, **__: Any) -> None:
        raise Unavailable("throttled")

    with monkeypatch.context() as outage:
        outage.setattr(type(yard.memory.intake), "write", fail)
        with pytest.raises(Unavailable):
            yard.start(a_message())
    yard.memory.definitions.put(TENANT, "other", a_definition())
    task = {"taskId": "tell", "name": "other"}
    yard.store.put(TENANT, a_trigger(job=REPORT | {"tasks": [task]}), now_ms=NOW_MS)
    job = yard.started(a_message())
    assert (job.name, yard.jobs, yard.kept) == ("report", 1, [])


def test_who_was_overtaken_by_a_try_with_the_changed_trigger_comes_back_for_that_job(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    yard = TriggeredYard(a_trigger())
    write, others = yard.memory.intake.write, []

    def overtaken(plan: JobPlan) -> None:
        monkeypatch.setattr(yard.memory.intake, "write", write)
        yard.store.put(TENANT, a_trigger(job=REPORT), now_ms=NOW_MS)
        others.append(yard.started(a_message()))
        write(plan)

    monkeypatch.setattr(yard.memory.intake, "write", overtaken)
    with pytest.raises(Unavailable, match="is not of this submission"):
        yard.start(a_message())
    assert [yard.started(a_message())] == others
    assert (others[0].name, yard.jobs, yard.kept) == ("report", 1, [])


def test_what_comes_back_after_a_year_starts_no_second_job() -> None:
    yard = TriggeredYard(a_trigger())
    job = yard.started(a_message())
    yard.clock.advance(YEAR_SECONDS)
    assert yard.started(a_message()) == job
    assert yard.jobs == 1


def test_what_an_archive_replays_starts_nothing() -> None:
    yard = TriggeredYard(a_trigger())
    done = yard.start(a_message(S3_EVENT | {"replay-name": "of-last-week"}))
    assert isinstance(done, Dropped)
    assert "replay" in done.reason
    assert (yard.jobs, yard.kept) == (0, [])


def test_no_producers_key_is_in_the_way_of_a_trigger() -> None:
    yard = TriggeredYard(nightly())
    request = SubmitJob.model_validate(REPORT)
    for key in (f"trigger/nightly/{SCHEDULED['time']}", f"nightly/{SCHEDULED['time']}"):
        yard.starter.submitter.submit(TENANT, request, key=key)
    job = yard.started(a_message(SCHEDULED, trigger="nightly"))
    assert job.name == "night of 2026-11-16T08:00:00Z"
    assert yard.jobs == 3


def test_no_event_says_which_triggers_led_to_its_job() -> None:
    job = REPORT | {"tags": "{{event.detail.tags}}"}
    yard = TriggeredYard(a_trigger(job=job))
    tags = {"trigger": "alarm", "trigger-path": "alarm audit", "own": "1"}
    started = yard.started(a_message(S3_EVENT | {"detail": {"tags": tags}}))
    assert started.tags == {"own": "1", "trigger": "uploads"}


def test_tags_of_an_event_that_leave_no_room_for_ours_are_refused() -> None:
    yard = TriggeredYard(a_trigger(job=REPORT | {"tags": "{{event.detail.tags}}"}))
    tags = {f"tag-{number}": "x" for number in range(20)}
    done = yard.start(a_message(S3_EVENT | {"detail": {"tags": tags}}))
    assert isinstance(done, PutAside)
    assert "tags: " in done.reason
