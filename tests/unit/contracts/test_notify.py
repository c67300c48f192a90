"""Channels and webhooks that a job may name, in bodies and in triggers' templates."""

from typing import Any

import pytest
from pydantic import ValidationError

from switchyard.contracts.jobs import SubmitJob
from switchyard.contracts.notify import Notify
from switchyard.contracts.problems import validation_problems
from switchyard.contracts.triggers.checks import trigger_problems
from switchyard.domain.jobs import notify as domain
from switchyard.usecases.triggers.start_triggered import Parked
from tests.builders import TENANT
from tests.fakes.harnesses.triggered_harness import REPORT, TriggeredHarness
from tests.fakes.triggers import a_message, a_trigger

WRONG: dict[str, tuple[Any, str]] = {
    "nobody": ({}, "notify: must name either a channel or a webhook"),
    "two": (
        {"channel": "#a", "webhook": "https://hooks.example"},
        "notify: must name either a channel or a webhook",
    ),
    "a bad channel": ({"channel": "ops"}, "notify.channel: must be #name"),
    "a bad URL": (
        {"webhook": "hooks.example"},
        "notify.webhook: must begin with https://, or on a local cloud with http://",
    ),
    "something else": ({"mail": "a@b.example"}, "notify.mail: is not a field"),
    "a text": ("#ops", "notify: "),
}


def problems_of(notify: Any) -> list[str]:
    tasks = [{"taskId": "a", "name": "scrape"}]
    with pytest.raises(ValidationError) as refused:
        SubmitJob.model_validate({"tasks": tasks, "notify": notify})
    return [str(problem) for problem in validation_problems(map(dict, refused.value.errors()))]


@pytest.mark.parametrize(("notify", "problem"), WRONG.values(), ids=WRONG)
def test_a_problem_is_reported_with_its_place(notify: Any, problem: str) -> None:
    assert problems_of(notify)[0].startswith(problem)


def test_what_was_stored_is_shown_whatever_would_be_accepted_now() -> None:
    stored = domain.NotifyTarget(webhook="gopher://old.example")
    assert Notify.of(stored).model_dump(exclude_none=True) == {"webhook": "gopher://old.example"}


@pytest.mark.parametrize("channel", ["#uploads", "#{{event.detail.bucket.name}}"])
def test_a_triggers_job_may_name_a_channel(channel: str) -> None:
    trigger = a_trigger(job=REPORT | {"notify": {"channel": channel}})
    assert trigger_problems(trigger) == []
    harness = TriggeredHarness(trigger)
    harness.memory.tenants.change(TENANT, slack_channels=("#uploads", "#inbox"))
    job = harness.started(a_message())
    assert job.notify == domain.NotifyTarget(
        channel=channel.replace("{{event.detail.bucket.name}}", "inbox")
    )


def test_a_trigger_that_names_nobody_right_is_refused_before_there_is_an_event() -> None:
    trigger = a_trigger(job=REPORT | {"notify": {"channel": "uploads"}})
    (problem,) = trigger_problems(trigger)
    assert problem.path == ("job", "notify", "channel")


def test_a_channel_that_the_tenant_may_not_name_parks_the_event() -> None:
    trigger = a_trigger(job=REPORT | {"notify": {"channel": "#{{event.detail.bucket.name}}"}})
    answer = TriggeredHarness(trigger).start(a_message())
    assert isinstance(answer, Parked)
    assert "notify.channel: #inbox is not one of the channels" in answer.reason


def test_a_webhook_that_the_stage_does_not_allow_parks_the_event() -> None:
    trigger = a_trigger(job=REPORT | {"notify": {"webhook": "https://10.0.0.1/in"}})
    answer = TriggeredHarness(trigger).start(a_message())
    assert isinstance(answer, Parked)
    assert "notify.webhook: 10.0.0.1 is private" in answer.reason


def test_ends_other_than_failures_are_asked_for() -> None:
    assert Notify(channel="#brand").value().on == ("failed",)
    asked = Notify.model_validate({"channel": "#brand", "on": ["failed", "completed"]})
    assert asked.value().successes
    assert asked.value().failures
    assert Notify.of(Notify(channel="#brand").value()).model_dump() == {"channel": "#brand"}


@pytest.mark.parametrize("on", [[], ["cancelled"], ["failed", "completed", "failed"], "failed"])
def test_what_is_no_end_is_refused(on: object) -> None:
    with pytest.raises(ValidationError):
        Notify.model_validate({"channel": "#brand", "on": on})
