"""Queues are reached through whichever endpoint the environment names."""

from io import BytesIO

import pytest
from botocore.awsrequest import AWSPreparedRequest, AWSResponse
from botocore.compat import HTTPHeaders
from urllib3 import HTTPResponse

from switchyard.adapters import aws
from switchyard.adapters.sqs import SqsQueueSender

PUBLIC = "https://sqs.eu-west-1.amazonaws.com/123456789012/switchyard-dev-task-queue"
PRIVATE = "https://vpce-1.sqs.eu-west-1.vpce.amazonaws.com"


class Calls:
    """Answer requests before they are sent, and remember their addresses."""

    def __init__(self) -> None:
        self.urls: list[str] = []

    def __call__(self, request: AWSPreparedRequest, **_: object) -> AWSResponse:
        self.urls.append(request.url)
        body = f'{{"QueueUrl": "{PUBLIC}", "MessageId": "m", "MD5OfMessageBody": ""}}'
        raw = HTTPResponse(BytesIO(body.encode()), preload_content=False)
        return AWSResponse(request.url, 200, HTTPHeaders(), raw)


def test_the_endpoint_is_called_and_not_the_host_in_the_queues_url(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, value in {
        "AWS_ENDPOINT_URL_SQS": PRIVATE,
        "AWS_DEFAULT_REGION": "eu-west-1",
        "AWS_ACCESS_KEY_ID": "testing",
        "AWS_SECRET_ACCESS_KEY": "testing",
    }.items():
        monkeypatch.setenv(name, value)
    sqs, calls = aws.client("sqs"), Calls()
    sqs.meta.events.register("before-send.sqs", calls)

    sqs.get_queue_attributes(QueueUrl=PUBLIC)
    SqsQueueSender(sqs).send("switchyard-dev-task-queue", "body", {})

    assert len(calls.urls) == 3
    assert {url.rstrip("/") for url in calls.urls} == {PRIVATE}
