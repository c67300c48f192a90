"""The running API against its description, against strangers, and against what is no request."""

import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from switchyard.bootstrap import stage_keys
from tests.e2e.conftest import ROOT, RunningCloud
from tests.e2e.documents import DEFINITION, a_job

DESCRIPTION = ROOT / "docs" / "openapi.json"
CASES = 60  # `make fuzz-api` sends thousands
WELL_FORMED = 40
ANSWERS = {200, 400, 404, 409}
STRANGE_REQUESTS = 75
JOB_ID = "job-00000000-0000-4000-8000-000000000001"
PROBLEM = "application/problem+json"


@pytest.fixture(scope="module")
def stranger(cloud: RunningCloud) -> str:
    """The key of a tenant that has nothing."""
    with stage_keys("local", **cloud.aws) as ring:
        return ring.issue("stranger")


@pytest.fixture(scope="module")
def http(cloud: RunningCloud) -> Iterator[httpx.Client]:
    with cloud.http as http:
        http.put("/task-definitions/do", json=DEFINITION).raise_for_status()
        yield http


def test_no_request_gets_an_answer_that_is_not_described(cloud: RunningCloud) -> None:
    from tests.e2e.api.fuzzing import fuzzer_of  # noqa: PLC0415 - a second for each process

    fuzzer = fuzzer_of(cloud)
    fuzzer.send(CASES)
    fuzzer.reach(fuzzer.answers.total() + WELL_FORMED)
    assert not fuzzer.problems, "\n".join(fuzzer.problems)
    assert set(fuzzer.answers) >= ANSWERS
    assert max(fuzzer.answers) < 500


def test_no_request_reaches_what_is_another_tenants(cloud: RunningCloud, stranger: str) -> None:
    from tests.e2e.api.fuzzing import fuzzer_of  # noqa: PLC0415

    fuzzer = fuzzer_of(cloud, key=stranger)
    with cloud.http as http:
        own = [f"/jobs/{fuzzer.known['jobId']}", "/task-definitions/do"]
        before = [http.get(path).json() for path in own]
        fuzzer.reach(STRANGE_REQUESTS)
        assert [http.get(path).json() for path in own] == before
    assert set(fuzzer.answers) == {404}
    assert fuzzer.answers.total() >= STRANGE_REQUESTS
    assert not fuzzer.problems, "\n".join(fuzzer.problems)


def test_a_stranger_finds_none_of_anothers_events_and_jobs(
    cloud: RunningCloud, stranger: str
) -> None:
    job_id = cloud.submit(a_job({"taskId": "a"}))
    with cloud.http_with({"x-api-key": stranger}) as http:
        for query in (f"entity={job_id}", f"entity={job_id}__a", "type=job-created", ""):
            assert http.get(f"/events?{query}").json()["events"] == []
        assert http.get("/jobs").json()["jobs"] == []


@pytest.mark.parametrize(
    ("headers", "status", "message"),
    [
        ({}, 401, "Unauthorized"),
        ({"x-api-key": "nonsense"}, 403, "Forbidden"),
        ({"x-api-key": "swy.local."}, 403, "Forbidden"),
        ({"x-api-key": "swy.local.guessed"}, 403, "Forbidden"),
        ({"x-api-key": "swy.LOCAL/../x.y"}, 403, "Forbidden"),
        ({"x-api-key": "swy.local." + "x" * 5_000}, 403, "Forbidden"),
    ],
)
def test_every_route_is_closed_without_a_good_key(
    cloud: RunningCloud, headers: dict[str, str], status: int, message: str
) -> None:
    paths = json.loads(DESCRIPTION.read_text(encoding="utf-8"))["paths"]
    with cloud.http_with(headers) as http:
        for path, methods in paths.items():
            for method in methods:
                answer = http.request(method, path.replace("{jobId}", JOB_ID))
                assert (answer.status_code, answer.json()) == (status, {"message": message}), path


def a_job_of(tasks: int) -> dict[str, Any]:
    return {"tasks": [{"taskId": f"t-{number}", "name": "do"} for number in range(tasks)]}


@pytest.mark.long  # `jobs/test_large_jobs.py` submits hundreds, and more than a thousand
def test_fifty_one_tasks_are_a_job(http: httpx.Client) -> None:
    accepted = http.post("/jobs", json=a_job_of(51))
    assert (accepted.status_code, accepted.json()["totalTasks"]) == (201, 51)


@pytest.mark.parametrize(
    ("body", "reported"),
    [
        (a_job_of(10_001), "1 to 10,000 tasks, this one 10,001"),
        (a_job_of(0), "1 to 10,000 tasks, this one 0"),
        ({"tasks": [{"taskId": "a", "name": "do", "input": "x" * 6_000_000}]}, "at most 5,000,000"),
        ({"tasks": [{"taskId": "ü", "name": "do"}]}, "1 to 128"),
        ({"tasks": [{"taskId": "a" * 129, "name": "do"}]}, "1 to 128"),
        ({"tasks": [{"taskId": "../a", "name": "do"}]}, "1 to 128"),
        ({"tasks": [{"taskId": "__end__", "name": "do"}]}, "__"),
        ({"tasks": [{"taskId": "a", "name": "do\n"}]}, "1 to 64"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_job_that_cannot_be_is_refused_in_words(
    http: httpx.Client, body: dict[str, Any], reported: str
) -> None:
    answer = http.post("/jobs", json=body)
    assert (answer.status_code, answer.headers["content-type"]) == (400, PROBLEM)
    assert reported in answer.json()["detail"]


@pytest.mark.parametrize(
    "job_id",
    [
        JOB_ID,
        JOB_ID.upper(),
        f"{JOB_ID}%0A",
        f"{JOB_ID}%00",
        "ü",
        "%F0%9F%9A%82",
        "%FF%FE",
        "TENANT%23local",
        "..%2F..%2Fhealth",
        "a" * 4_000,
        "~order",
        "%3Cscript%3E",
    ],
)
def test_an_id_that_is_none_is_not_found(http: httpx.Client, job_id: str) -> None:
    for path in (f"/jobs/{job_id}", f"/jobs/{job_id}/events", f"/jobs/{job_id}/tasks/a"):
        assert http.get(path).status_code == 404
    assert http.post(f"/jobs/{job_id}/cancel").status_code == 404
    assert http.get(f"/task-definitions/{job_id}").status_code == 404


def test_files_of_a_task_are_read_by_their_links(cloud: RunningCloud, http: httpx.Client) -> None:
    job_id = cloud.submit(a_job({"taskId": "a"}))
    cloud.settled(job_id)
    task = cloud.task(job_id, "a")
    (result,) = [file for file in task.files if file.name == "artifacts/task-result.json"]
    content = httpx.get(result.url, verify=False)
    assert (content.status_code, content.json()) == (200, task.output)
    assert len(content.content) == result.size
    assert content.headers["content-type"] == result.content_type
