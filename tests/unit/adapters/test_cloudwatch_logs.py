"""What a task prints, found in a log group: late lines too, and nothing twice."""

import json
from collections.abc import Iterator
from typing import Any

import boto3
import pytest
from botocore.stub import Stubber

from switchyard.adapters.cloudwatch_logs import LATENESS_MS, CloudWatchTaskOutput
from switchyard.domain.errors import Unavailable

TASK = "job-1__scrape"
GROUP = "/switchyard/dev/worker"
BEGAN = 1_800_000_000_000


@pytest.fixture
def logs() -> Any:
    return boto3.client(
        "logs", region_name="eu-west-1", aws_access_key_id="x", aws_secret_access_key="y"
    )


@pytest.fixture
def stub(logs: Any) -> Iterator[Stubber]:
    with Stubber(logs) as stub:
        yield stub
        stub.assert_no_pending_responses()


@pytest.fixture
def output(logs: Any) -> CloudWatchTaskOutput:
    return CloudWatchTaskOutput(logs, GROUP, TASK, since_ms=BEGAN)


def answered(
    stub: Stubber, *lines: tuple[str, int], since: int = BEGAN, page: str = "", more: str = ""
) -> None:
    events = [
        {
            "eventId": text,
            "timestamp": BEGAN + at,
            "message": json.dumps({"message": f"[WORKFLOW:{TASK}] {text}"}),
        }
        for text, at in lines
    ]
    asked = {
        "logGroupName": GROUP,
        "filterPattern": f'"[WORKFLOW:{TASK}]"',
        "startTime": since,
        **({"nextToken": page} if page else {}),
    }
    answer = {"events": events, **({"nextToken": more} if more else {})}
    stub.add_response("filter_log_events", answer, asked)


def test_all_pages_are_read_and_returned_in_order(
    stub: Stubber, output: CloudWatchTaskOutput
) -> None:
    answered(stub, ("two", 2), more="on")
    answered(stub, ("one", 1), ("three", 3), page="on")

    assert output.news() == ["one", "two", "three"]


def test_a_late_line_is_found_and_no_line_is_returned_twice(
    stub: Stubber, output: CloudWatchTaskOutput
) -> None:
    answered(stub, ("one", 1), ("three", 3))
    answered(stub, ("one", 1), ("two", 2), ("three", 3))
    answered(stub, ("one", 1), ("two", 2), ("three", 3))

    assert output.news() == ["one", "three"]
    assert output.news() == ["two"]
    assert output.news() == []


def test_the_window_moves_on_with_what_was_found(
    stub: Stubber, output: CloudWatchTaskOutput
) -> None:
    later = LATENESS_MS + 5_000
    answered(stub, ("one", 1), ("two", later))
    answered(stub, ("two", later), since=BEGAN + 5_000)

    assert output.news() == ["one", "two"]
    assert output.news() == []


def test_a_log_that_does_not_answer_is_unavailable(
    stub: Stubber, output: CloudWatchTaskOutput
) -> None:
    stub.add_client_error("filter_log_events", "ThrottlingException")

    with pytest.raises(Unavailable):
        output.news()
