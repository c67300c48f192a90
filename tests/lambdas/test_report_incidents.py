"""Calls `report_incidents` as the mapping of the alerts queue does, through to Slack."""

import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest

from switchyard.adapters import aws
from switchyard.adapters.dynamodb.job_intake import DynamoDbJobIntake
from switchyard.adapters.dynamodb.job_store import DynamoDbJobStore
from switchyard.adapters.dynamodb.payloads import DynamoDbPayloads
from switchyard.adapters.dynamodb.table import DynamoDbTable
from switchyard.adapters.system import SystemClock
from switchyard.domain.states import JobState
from switchyard.testing.transport import MemoryBlobStore
from tests.builders import JOB, JOB_ID, NOW_MS, TENANT, a_plan
from tests.fakes.slack.api import Fault, SlackApi, slack_api
from tests.lambdas.conftest import FakeContext, load_handler
from tests.slack.conftest import PROXIES

TICK = {"source": "aws.events", "detail-type": "Scheduled Event", "detail": {}}
SUBJECT = f"job/{TENANT}/{JOB_ID}"


def a_batch(*bodies: str) -> dict[str, Any]:
    return {
        "Records": [
            {
                "messageId": f"m{n}",
                "receiptHandle": "r",
                "body": body,
                "attributes": {"SentTimestamp": str(NOW_MS)},
                "messageAttributes": {},
                "eventSource": "aws:sqs",
                "eventSourceARN": "arn:aws:sqs:eu-west-1:123456789012:alerts-queue-test",
            }
            for n, body in enumerate(bodies)
        ]
    }


def of_job(event_type: str) -> str:
    detail = {"eventType": event_type, "tenantId": TENANT, "properties": {"jobId": JOB_ID}}
    return json.dumps({"detail-type": "log-event", "detail": detail})


@pytest.fixture
def slack(cloud: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> Iterator[SlackApi]:
    for name in PROXIES:
        monkeypatch.delenv(name, raising=False)
    with slack_api(SystemClock().now_ms) as api:
        monkeypatch.setenv("SLACK_URL", api.url)
        monkeypatch.setenv("SLACK_SECRET", "switchyard/test/slack")
        monkeypatch.setenv("SLACK_CHANNEL", "#ops")
        aws.client("secretsmanager").create_secret(
            Name="switchyard/test/slack", SecretString='{"botToken": "xoxb-1"}'
        )
        yield api


@pytest.fixture
def failed_job(cloud: dict[str, str]) -> DynamoDbJobStore:
    table = DynamoDbTable(aws.client("dynamodb"), "state-test")
    intake = DynamoDbJobIntake(table, DynamoDbPayloads(table, MemoryBlobStore()))
    intake.write(a_plan())
    intake.open(a_plan(), now_ms=NOW_MS)
    jobs = DynamoDbJobStore(table)
    job = jobs.find(JOB)
    assert job is not None
    job = jobs.note_failure(job, task_id="scrape-store", now_ms=NOW_MS)
    jobs.settle(job, JobState.FAILED, now_ms=NOW_MS)
    return jobs


def run(*bodies: str, context: FakeContext | None = None) -> list[str]:
    """The ids of the messages that have to come back."""
    answer = load_handler("report_incidents").handler(a_batch(*bodies), context or FakeContext())
    return [failure["itemIdentifier"] for failure in answer["batchItemFailures"]]


def test_a_failed_job_is_posted_once_however_many_events_name_it(
    slack: SlackApi, failed_job: DynamoDbJobStore
) -> None:
    assert run(of_job("Job Failure Detected"), of_job("Job Failed")) == []
    assert run(of_job("Job Failed")) == []
    (message,) = slack.messages
    assert message.seen.startswith("# 🔴 A job failed: brand")
    assert f"switchyard redrive {JOB_ID} --stage test" in message.seen


def test_what_is_no_wake_up_comes_back_and_the_others_do_not(
    slack: SlackApi, failed_job: DynamoDbJobStore
) -> None:
    assert run("not json", of_job("Job Failed"), '{"subject": "nobody"}') == ["m0", "m2"]
    assert len(slack.messages) == 1


class Hurried(FakeContext):
    """Lets two of three subjects take all the time that a function has."""

    def __init__(self) -> None:
        super().__init__()
        self.left = [20_000, 12_000, 2_000]

    def get_remaining_time_in_millis(self) -> int:
        return self.left.pop(0)


def test_what_there_is_no_time_for_comes_back_by_itself_and_the_others_do_not(
    slack: SlackApi, failed_job: DynamoDbJobStore
) -> None:
    others = [json.dumps({"subject": f"alarm/{n}"}) for n in "ab"]
    assert run(of_job("Job Failed"), *others, context=Hurried()) == ["m2"]
    assert len(slack.messages) == 1


def test_an_alarm_is_posted_as_it_is_now(slack: SlackApi) -> None:
    name = "switchyard-test-event-not-saved-unread"
    cloudwatch = aws.client("cloudwatch")
    cloudwatch.put_metric_alarm(
        AlarmName=name,
        AlarmDescription="Dead letters are not read.",
        MetricName="m",
        Namespace="n",
        Period=60,
        Statistic="Sum",
        Threshold=0,
        EvaluationPeriods=1,
        ComparisonOperator="GreaterThanThreshold",
    )
    cloudwatch.set_alarm_state(AlarmName=name, StateValue="ALARM", StateReason="1 > 0")
    body = {"detail-type": "CloudWatch Alarm State Change", "detail": {"alarmName": name}}
    run(json.dumps(body))
    cloudwatch.set_alarm_state(AlarmName=name, StateValue="OK", StateReason="0")
    run(json.dumps(body))
    (main,) = slack.mains
    assert main.seen.startswith("# ✅ Alarm is over: event not saved unread")
    assert len(slack.thread()) == 1


def test_while_slack_is_down_nothing_fails_and_the_sweeper_has_it_checked_again(
    slack: SlackApi, failed_job: DynamoDbJobStore, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    slack.lasting = Fault(status=503)
    assert run(of_job("Job Failed")) == []
    slack.lasting = None
    load_handler("sweep").handler(TICK, FakeContext())
    (again,) = aws.client("sqs").receive_message(
        QueueUrl=aws.client("sqs").get_queue_url(QueueName="alerts")["QueueUrl"],
        MaxNumberOfMessages=10,
    )["Messages"]
    assert run(again["Body"]) == []
    assert len(slack.messages) == 1
    said = {record.message for record in caplog.records}
    assert {"alert could not be posted", "alert is due", "incident was reported"} <= said


def test_without_a_token_nothing_fails_and_one_line_says_so(
    cloud: dict[str, str], failed_job: DynamoDbJobStore, caplog: pytest.LogCaptureFixture
) -> None:
    handler = load_handler("report_incidents").handler
    for _ in range(3):
        assert handler(a_batch(of_job("Job Failed")), FakeContext()) == {"batchItemFailures": []}
    said = [r for r in caplog.records if r.message == "alert could not be posted"]
    assert [vars(record)["status"] for record in said] == ["not configured"]
