"""A listing is read without the models of its answers, and as they are read."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from pydantic import ValidationError

from switchyard.contracts.overview import Health, JobPage, JobSummary
from switchyard_cli.connections.job_list import read_jobs, read_paused

JOB: dict[str, Any] = {
    "jobId": "job-1",
    "name": "brand",
    "status": "completed",
    "totalTasks": 3,
    "createdAt": "2026-01-01T00:00:00Z",
}
HEALTH: dict[str, Any] = {"stage": "dev", "version": "1"}


def test_what_the_api_writes_is_read() -> None:
    facts = {"status": "failed", "created_at": datetime(2026, 1, 2, 3, 4, 5, 678000, tzinfo=UTC)}
    tagged = JobSummary(job_id="job-1", name="a", total_tasks=1, tags={"team": "web"}, **facts)
    ended = JobSummary(
        job_id="job-2", name="b", total_tasks=2, completed_at=facts["created_at"], **facts
    )
    page = JobPage(jobs=(tagged, ended), cursor="next")

    found = read_jobs(page.model_dump_json(by_alias=True))

    assert found.cursor == "next"
    for read, written in zip(found.jobs, page.jobs, strict=True):
        assert read._asdict() == written.model_dump(exclude={"completed_at"})


def test_what_a_newer_version_adds_is_ignored() -> None:
    answer = {"jobs": [JOB | {"later": 1}], "later": 2}

    assert read_jobs(json.dumps(answer)).jobs[0].job_id == "job-1"
    assert read_paused(json.dumps(HEALTH | {"later": 3})) is False


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "<html>",
        "[]",
        "{}",
        "null",
        json.dumps({"jobs": {}}),
        json.dumps({"jobs": [1]}),
        json.dumps({"jobs": [], "cursor": 1}),
        *(json.dumps({"jobs": [JOB | {name: None}]}) for name in JOB),
        *(json.dumps({"jobs": [{k: v for k, v in JOB.items() if k != name}]}) for name in JOB),
        json.dumps({"jobs": [JOB | {"createdAt": "yesterday"}]}),
        json.dumps({"jobs": [JOB | {"tags": ["a"]}]}),
        json.dumps({"jobs": [JOB | {"tags": {"a": 1}}]}),
        '{"jobs": ' + "[" * 100_000,
    ],
    ids=lambda answer: answer[:60],
)
def test_what_is_no_list_of_jobs_is_refused_by_both(answer: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - whichever part is wrong
        read_jobs(answer)
    with pytest.raises(ValidationError):
        JobPage.model_validate_json(answer)


@pytest.mark.parametrize(
    "answer", [{}, {"stage": "dev"}, HEALTH | {"stage": 1}, HEALTH | {"paused": None}]
)
def test_what_is_no_health_is_refused_by_both(answer: dict[str, Any]) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - whichever part is wrong
        read_paused(json.dumps(answer))
    with pytest.raises(ValidationError):
        Health.model_validate(answer)


def test_a_pause_is_read() -> None:
    assert read_paused(Health(**HEALTH, paused=True).model_dump_json(by_alias=True))
