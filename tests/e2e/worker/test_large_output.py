"""Three megabytes through every hop: API, bucket, child, settling, bus, log, and back."""

import json
from typing import Any

import pytest

from switchyard.adapters.dynamodb.event_log import DynamoDbEventReader
from switchyard.adapters.dynamodb.table import DynamoDbTable
from switchyard.adapters.eventbridge import EventOverflow
from switchyard.adapters.s3 import S3BlobStore
from switchyard.adapters.system import SystemClock
from switchyard.contracts.events import JobCreated, TaskCompleted, what_it_says
from switchyard.contracts.jobs import JobView
from switchyard.domain.events.event_queries import EventQuery, history
from switchyard.domain.ids import JobRef
from tests.e2e.conftest import RunningCloud
from tests.e2e.documents import a_job, scripted

LARGE = {"text": 'é"\\\n\u2028' + "x" * 3_000_000, "numbers": [1.0, 10**40, 1e-200, -0.5, None]}
SCRIPT = scripted(output=LARGE)


@pytest.fixture(scope="module")
def large_job(cloud: RunningCloud) -> JobView:
    after = {"taskId": "after", "dependsOn": ["large"]}
    return cloud.settled(cloud.submit(a_job({"taskId": "large", **SCRIPT}, after)))


def reported(cloud: RunningCloud, query: EventQuery, event_type: str) -> Any:
    """The event of a type, as soon as it is in the log."""
    blobs = S3BlobStore(cloud.client("s3"), cloud.output("infrastructure", "ArtifactsBucketName"))
    events = DynamoDbTable(
        cloud.client("dynamodb"), cloud.output("infrastructure", "EventsTableName")
    )
    reader = DynamoDbEventReader(events, EventOverflow(blobs, "bucket"))
    clock = SystemClock()
    deadline = clock.monotonic() + 20
    while True:
        for event in reader.read(query, full=True):
            if event.event_type == event_type:
                return what_it_says(event)
        assert clock.monotonic() < deadline, f"no {event_type}"
        clock.sleep(0.2)


def same(value: Any, expected: Any) -> bool:
    """To the last digit; without three megabytes of difference to print."""
    return json.dumps(value) == json.dumps(expected)


def test_a_large_output_is_answered_as_it_was_made(cloud: RunningCloud, large_job: JobView) -> None:
    assert large_job.progress == {"completed": 2}
    with cloud.http as http:
        view = http.get(f"/jobs/{large_job.job_id}/tasks/large").json()
    assert same(view["output"], LARGE)
    assert f"/{large_job.job_id}__large/" in view["inputLocation"]
    assert same(json.loads(_blob(cloud, view["inputLocation"])), SCRIPT["input"])


def test_a_large_output_is_in_the_log_as_it_was_made(
    cloud: RunningCloud, large_job: JobView
) -> None:
    task = JobRef("local", large_job.job_id).task("large")
    completed = reported(cloud, history(task), TaskCompleted.event_type)
    assert isinstance(completed, TaskCompleted)
    assert same(completed.output, LARGE)


def test_a_large_input_is_in_the_log_as_it_was_given(
    cloud: RunningCloud, large_job: JobView
) -> None:
    created = reported(cloud, history(JobRef("local", large_job.job_id)), JobCreated.event_type)
    assert isinstance(created, JobCreated)
    assert same(created.tasks[0].input, SCRIPT["input"])


def test_a_large_output_reaches_the_prompt_of_what_follows(
    cloud: RunningCloud, large_job: JobView
) -> None:
    prompt = cloud.prompt(cloud.task(large_job.job_id, "after"))
    assert prompt.count("x" * 1_000_000) == 3


def test_a_job_over_the_limit_is_refused_with_the_part_that_is_too_large(
    cloud: RunningCloud,
) -> None:
    job = a_job({"taskId": "small"}, {"taskId": "large", "input": "x" * 5_000_000})
    del job["definitions"]
    with cloud.http as http:
        refused = http.post("/jobs", json=job)
    assert refused.status_code == 400
    assert "tasks.1.input: has 5,000,0" in refused.json()["detail"]


def _blob(cloud: RunningCloud, location: str) -> bytes:
    bucket, _, key = location.removeprefix("s3://").partition("/")
    body: bytes = cloud.client("s3").get_object(Bucket=bucket, Key=key)["Body"].read()
    return body
