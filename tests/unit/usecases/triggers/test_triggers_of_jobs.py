"""Triggers that wait for the events of jobs: once for each, and never without end."""

import pytest

from switchyard.contracts.jobs import SubmitJob
from switchyard.domain.jobs.job import Job
from switchyard.usecases.triggers.start_triggered import Dropped, Started
from tests.builders import TENANT
from tests.fakes.harnesses.triggered_harness import (
    CHAINED,
    ON_JOBS,
    REPORT,
    TriggeredHarness,
    about,
)
from tests.fakes.triggers import a_message, a_trigger


def of_a_producer(harness: TriggeredHarness) -> Job:
    request = SubmitJob.model_validate(REPORT)
    accepted = harness.starter.submitter.submit(TENANT, request)
    return harness.job(accepted.job_id)


def jobs_that_follow_one(harness: TriggeredHarness, names: list[str]) -> int:
    """Count a producer's jobs when every job is offered to every trigger."""
    todo, emitted = [of_a_producer(harness)], 0
    while todo:
        job, emitted = todo.pop(), emitted + 1
        for name in names:
            done = harness.start(a_message(about(job, emitted), trigger=name))
            if isinstance(done, Started):
                todo.append(harness.job(done.job_id))
    return harness.jobs - 1


def test_one_event_of_ours_starts_one_job_under_any_id_of_the_bus() -> None:
    harness = TriggeredHarness(a_trigger("report", on=ON_JOBS, job=REPORT))
    event = about(of_a_producer(harness))
    first = harness.started(a_message(event, trigger="report"))
    again = harness.started(a_message(event | {"id": "told-twice"}, trigger="report"))
    assert again == first


@pytest.mark.parametrize("given", [None, 7, "", "with space", "x" * 129, "ends\n"])
def test_an_event_without_an_id_of_ours_is_known_by_that_of_the_bus(given: object) -> None:
    harness = TriggeredHarness(a_trigger("report", on=ON_JOBS, job=REPORT))
    event = about(of_a_producer(harness))
    event["detail"]["eventId"] = given
    first = harness.started(a_message(event, trigger="report"))
    assert harness.started(a_message(event, trigger="report")) == first
    assert harness.started(a_message(event | {"id": "another"}, trigger="report")) != first


def test_on_the_default_bus_nobody_else_says_which_event_it_is() -> None:
    harness = TriggeredHarness(a_trigger(job=REPORT))
    event = about(of_a_producer(harness))
    first = harness.started(a_message(event))
    assert harness.started(a_message(event | {"id": "another"})) != first


def test_what_a_trigger_started_starts_no_other_unless_that_says_so() -> None:
    harness = TriggeredHarness(a_trigger(), a_trigger("report", on=ON_JOBS, job=REPORT))
    done = harness.start(a_message(about(harness.started(a_message())), trigger="report"))
    assert isinstance(done, Dropped)
    assert "a trigger started (uploads)" in done.reason
    assert "chained" in done.reason


def test_a_chained_trigger_follows_others_but_does_not_start_itself() -> None:
    harness = TriggeredHarness(a_trigger(), a_trigger("report", on=CHAINED, job=REPORT))
    reported = harness.started(a_message(about(harness.started(a_message())), trigger="report"))
    assert reported.tags == {"trigger": "report", "trigger-path": "uploads"}
    done = harness.start(a_message(about(reported, 3), trigger="report"))
    assert isinstance(done, Dropped)
    assert "this trigger led to (uploads report)" in done.reason
    assert harness.jobs == 2


def test_chained_triggers_do_not_start_each_other_for_ever() -> None:
    ping, pong = (a_trigger(name, on=CHAINED, job=REPORT) for name in ("ping", "pong"))
    harness = TriggeredHarness(a_trigger(), ping, pong)
    job = harness.started(a_message(about(harness.started(a_message()), 1), trigger="ping"))
    job = harness.started(a_message(about(job, 2), trigger="pong"))
    assert isinstance(harness.start(a_message(about(job, 3), trigger="ping")), Dropped)


@pytest.mark.parametrize(
    ("triggers", "unchained", "chained"),
    [(1, 1, 1), (3, 3, 3 + 3 * 2 + 3 * 2), (5, 5, 5 + 5 * 4 + 5 * 4 * 3)],
)
def test_one_job_leads_to_few_others(triggers: int, unchained: int, chained: int) -> None:
    names = [f"t{number}" for number in range(triggers)]
    for on, expected in ((ON_JOBS, unchained), (CHAINED, chained)):
        harness = TriggeredHarness(*[a_trigger(name, on=on, job=REPORT) for name in names])
        assert jobs_that_follow_one(harness, names) == expected
