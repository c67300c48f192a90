"""Triggers: their names, and which events start nothing."""

from typing import Any

import pytest

from switchyard.domain.errors import Problem
from switchyard.domain.ids import JobRef
from switchyard.domain.jobs.submission_keys import problem_with_key
from switchyard.domain.triggers.triggers import (
    Ignored,
    is_our_own_file,
    job_of_event,
    of_this_tenant,
    path_to,
    pattern_problems,
    rule_name,
    submission_key,
    tags_for,
)
from tests.builders import JOB_ID, TENANT


def test_rule_names_are_readable_and_no_two_triggers_share_one() -> None:
    assert rule_name("dev", "acme", "uploads") == "switchyard-dev-acme.uploads"
    assert rule_name("dev", "a-b", "c") != rule_name("dev", "a", "b-c")


def test_long_rule_names_keep_within_the_limit_and_apart() -> None:
    tenant = "t" * 63
    names = {rule_name("prod", tenant, f"{'n' * 38}{end}") for end in "ab"}
    assert len(names) == 2
    assert all(len(name) == 64 and name.startswith("switchyard-prod-ttt") for name in names)


def test_the_key_of_the_longest_names_is_a_key() -> None:
    assert problem_with_key(submission_key("n" * 40, "e" * 128)) is None


def emitted(tenant: str, entity: str) -> dict[str, Any]:
    return {"detail": {"tenantId": tenant, "entityId": entity}}


@pytest.mark.parametrize(
    ("event", "job"),
    [
        (emitted(TENANT, JOB_ID), JobRef(TENANT, JOB_ID)),
        (emitted(TENANT, f"{JOB_ID}__scrape"), JobRef(TENANT, JOB_ID)),
        (emitted(TENANT, "order-7"), None),
        (emitted("other", JOB_ID), None),
        (emitted(TENANT, "job-x__y"), None),
        ({"detail": "text"}, None),
        ({}, None),
    ],
)
def test_an_event_of_our_bus_names_its_job(event: dict[str, Any], job: JobRef | None) -> None:
    assert job_of_event(event, TENANT) == job


def uploaded(key: str, bucket: str = "ours", source: str = "aws.s3") -> dict[str, Any]:
    return {"source": source, "detail": {"bucket": {"name": bucket}, "object": {"key": key}}}


@pytest.mark.parametrize(
    ("event", "own"),
    [
        (uploaded("task/logs/x/1/artifacts/a.json"), True),
        (uploaded("events/x/y-payload.json"), True),
        (uploaded("parked/q/2026-11-16/x.json"), True),
        (uploaded("quarantine/2026-11-16/x.json"), True),
        (uploaded("undeliverable/q/2026-11-16/x.json"), True),
        (uploaded("uploads/a.csv"), False),
        (uploaded("task/a.csv", bucket="theirs"), False),
        (uploaded("task/a.csv", source="somebody"), False),
        ({"source": "aws.s3", "detail": {}}, False),
        ({}, False),
    ],
)
def test_what_switchyard_writes_itself_starts_nothing(event: dict[str, Any], own: bool) -> None:
    assert is_our_own_file(event, "ours") is own


def test_a_job_is_marked_with_the_trigger_that_started_it() -> None:
    assert tags_for("upload", (), chained=False) == {"trigger": "upload"}


def test_a_path_grows_from_job_to_job() -> None:
    first = tags_for("upload", (), chained=False)
    assert isinstance(first, dict)
    second = tags_for("report", path_to(first), chained=True)
    assert second == {"trigger": "report", "trigger-path": "upload"}
    assert path_to(second) == ("upload", "report")


def test_no_trigger_leads_to_itself_be_it_through_others() -> None:
    assert isinstance(tags_for("upload", ("upload",), chained=True), Ignored)
    assert isinstance(tags_for("upload", ("upload", "report"), chained=True), Ignored)


def test_what_a_trigger_started_leads_on_only_to_chained_ones() -> None:
    assert isinstance(tags_for("report", ("upload",), chained=False), Ignored)


def test_no_more_than_three_triggers_follow_each_other_and_a_tag_holds_their_names() -> None:
    path = tuple(f"{n}{'x' * 39}" for n in range(3))
    tags = tags_for("last", path[:2], chained=True)
    assert isinstance(tags, dict)
    assert len(tags["trigger-path"]) <= 128
    assert isinstance(tags_for("last", path, chained=True), Ignored)


def test_jobs_of_people_have_no_path() -> None:
    assert path_to({"team": "web"}) == ()


@pytest.mark.parametrize(
    ("pattern", "path", "words"),
    [
        ({}, (), "would match every event"),
        ([], (), "must be an object"),
        ({"source": "aws.s3"}, ("source",), "must be a list of what matches, such as ['aws.s3']"),
        ({"detail": {"a": {"b": []}}}, ("detail", "a", "b"), "must not be an empty list"),
        ({"detail": {"a": {}}}, ("detail", "a"), "would match every event"),
        ({"detail": ["x"]}, ("detail",), "must be an object"),
    ],
)
def test_a_pattern_that_eventbridge_would_refuse(
    pattern: Any, path: tuple[str, ...], words: str
) -> None:
    (problem,) = pattern_problems(pattern)
    assert problem.path == path
    assert words in problem.message


def test_a_pattern_may_say_anything_in_its_lists() -> None:
    pattern = {"source": ["aws.s3"], "detail": {"object": {"key": [{"prefix": "uploads/"}]}}}
    assert pattern_problems(pattern) == []


def test_on_our_bus_a_trigger_hears_its_own_tenant_alone() -> None:
    asked = {"detail-type": ["log-event"], "detail": {"eventType": ["Job Completed"]}}
    heard = asked | {"detail": {"eventType": ["Job Completed"], "tenantId": [TENANT]}}
    assert of_this_tenant(asked, TENANT) == heard
    assert of_this_tenant(heard, TENANT) == heard
    for refused in ({"detail": {"tenantId": ["other"]}}, {"detail": ["x"]}):
        assert isinstance(of_this_tenant(refused, TENANT), Problem)
    assert of_this_tenant({"source": ["x"]}, TENANT) == {
        "source": ["x"],
        "detail": {"tenantId": [TENANT]},
    }
