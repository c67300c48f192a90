"""Triggers that wait for the events of jobs: once for each, and never without end."""

import pytest

from switchyard.contracts.jobs import SubmitJob
from switchyard.domain.jobs.job import Job
from switchyard.usecases.triggers.start_triggered import Dropped, Started
from tests.builders import TENANT
from tests.fakes.triggered_yard import CHAINED, ON_JOBS, REPORT, TriggeredYard, about
from tests.fakes.triggers import a_message, a_trigger


def of_a_producer(yard: TriggeredYard) -> Job:
    request = SubmitJob.model_validate(REPORT)
    accepted = yard.starter.submitter.submit(TENANT, request)
    return yard.job(accepted.job_id)


def jobs_that_follow_one(yard: TriggeredYard, names: list[str]) -> int:
    """Of a producer, when every job is told to every trigger."""
    todo, told = [of_a_producer(yard)], 0
    while todo:
        job, told = todo.pop(), told + 1
        for name in names:
            done = yard.start(a_message(about(job, told), trigger=name))
            if isinstance(done, Started):
                todo.append(yard.job(done.job_id))
    return yard.jobs - 1


def test_one_event_of_ours_starts_one_job_under_whichever_ids_the_bus_tells_it() -> None:
    yard = TriggeredYard(a_trigger("report", on=ON_JOBS, job=REPORT))
    event = about(of_a_producer(yard))
    first = yard.started(a_message(event, trigger="report"))
    again = yard.started(a_message(event | {"id": "told-twice"}, trigger="report"))
    assert again == first


@pytest.mark.parametrize("given", [None, 7, "", "with space", "x" * 129, "ends\n"])
def test_an_event_without_an_id_of_ours_is_known_by_that_of_the_bus(given: object) -> None:
    yard = TriggeredYard(a_trigger("report", on=ON_JOBS, job=REPORT))
    event = about(of_a_producer(yard))
    event["detail"]["eventId"] = given
    first = yard.started(a_message(event, trigger="report"))
    assert yard.started(a_message(event, trigger="report")) == first
    assert yard.started(a_message(event | {"id": "another"}, trigger="report")) != first


def test_on_the_default_bus_nobody_else_says_which_event_it_is() -> None:
    yard = TriggeredYard(a_trigger(job=REPORT))
    event = about(of_a_producer(yard))
    first = yard.started(a_message(event))
    assert yard.started(a_message(event | {"id": "another"})) != first


def test_what_a_trigger_started_starts_no_other_unless_that_says_so() -> None:
    yard = TriggeredYard(a_trigger(), a_trigger("report", on=ON_JOBS, job=REPORT))
    done = yard.start(a_message(about(yard.started(a_message())), trigger="report"))
    assert isinstance(done, Dropped)
    assert "a trigger started (uploads)" in done.reason
    assert "chained" in done.reason


def test_a_chained_trigger_follows_others_but_does_not_start_itself() -> None:
    yard = TriggeredYard(a_trigger(), a_trigger("report", on=CHAINED, job=REPORT))
    reported = yard.started(a_message(about(yard.started(a_message())), trigger="report"))
    assert reported.tags == {"trigger": "report", "trigger-path": "uploads"}
    done = yard.start(a_message(about(reported, 3), trigger="report"))
    assert isinstance(done, Dropped)
    assert "this trigger led to (uploads report)" in done.reason
    assert yard.jobs == 2


def test_chained_triggers_do_not_start_each_other_for_ever() -> None:
    ping, pong = (a_trigger(name, on=CHAINED, job=REPORT) for name in ("ping", "pong"))
    yard = TriggeredYard(a_trigger(), ping, pong)
    job = yard.started(a_message(about(yard.started(a_message()), 1), trigger="ping"))
    job = yard.started(a_message(about(job, 2), trigger="pong"))
    assert isinstance(yard.start(a_message(about(job, 3), trigger="ping")), Dropped)


@pytest.mark.parametrize(
    ("triggers", "unchained", "chained"),
    [(1, 1, 1), (3, 3, 3 + 3 * 2 + 3 * 2), (5, 5, 5 + 5 * 4 + 5 * 4 * 3)],
)
def test_one_job_leads_to_few_others(triggers: int, unchained: int, chained: int) -> None:
    names = [f"t{number}" for number in range(triggers)]
    for on, expected in ((ON_JOBS, unchained), (CHAINED, chained)):
        yard = TriggeredYard(*[a_trigger(name, on=on, job=REPORT) for name in names])
        assert jobs_that_follow_one(yard, names) == expected
