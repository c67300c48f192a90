"""Calls `report_incidents` for jobs that name a webhook, through to a server on loopback."""

import hmac
import json
import logging
from collections.abc import Iterator
from dataclasses import replace

import pytest

from switchyard.adapters import aws
from switchyard.adapters.dynamodb.job_intake import DynamoDbJobIntake
from switchyard.adapters.dynamodb.job_store import DynamoDbJobStore
from switchyard.adapters.dynamodb.payloads import DynamoDbPayloads
from switchyard.adapters.dynamodb.table import DynamoDbTable
from switchyard.domain.jobs.notify import NotifyTarget
from switchyard.domain.states import JobState
from switchyard.testing.transport import MemoryBlobStore
from tests.builders import JOB, NOW_MS, TENANT, a_plan
from tests.fakes.servers.webhook_server import WebhookServer, a_webhook
from tests.lambdas.conftest import FakeContext, load_handler
from tests.lambdas.test_report_incidents import a_batch, of_job

SECRET = "switchyard/test/webhooks"


@pytest.fixture
def webhook(cloud: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> Iterator[WebhookServer]:
    """The webhook of a job that has failed."""
    monkeypatch.setenv("WEBHOOKS_SECRET", SECRET)
    monkeypatch.setenv("WEBHOOKS_MAY_REACH_PRIVATE", "true")
    with a_webhook() as server:
        fail_a_job(server.url())
        yield server


def fail_a_job(url: str) -> None:
    table = DynamoDbTable(aws.client("dynamodb"), "state-test")
    intake = DynamoDbJobIntake(table, DynamoDbPayloads(table, MemoryBlobStore()))
    plan = a_plan()
    plan = replace(plan, job=replace(plan.job, notify=NotifyTarget(webhook=url)))
    intake.write(plan)
    intake.open(plan, now_ms=NOW_MS)
    jobs = DynamoDbJobStore(table)
    job = jobs.find(JOB)
    assert job is not None
    job = jobs.note_failure(job, task_id="scrape-store", now_ms=NOW_MS)
    jobs.settle(job, JobState.FAILED, now_ms=NOW_MS)


def report() -> None:
    answer = load_handler("report_incidents").handler(a_batch(of_job("Job Failed")), FakeContext())
    assert answer["batchItemFailures"] == []


def test_a_failed_job_calls_its_webhook_with_a_signature_of_the_stages_secret(
    webhook: WebhookServer,
) -> None:
    aws.client("secretsmanager").create_secret(Name=SECRET, SecretString="s3cret")
    report()
    (arrived,) = webhook.arrived
    assert json.loads(arrived.body)["type"] == "incident.open"
    moment, signature = arrived.headers["Switchyard-Signature"].split(",")
    tenants = hmac.new(b"s3cret", TENANT.encode(), "sha256").hexdigest()
    signed = moment.removeprefix("t=").encode() + b"." + arrived.body
    expected = hmac.new(tenants.encode(), signed, "sha256").hexdigest()
    assert signature == f"v1={expected}"


def test_without_the_secret_a_warning_names_it(
    webhook: WebhookServer, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    report()
    assert webhook.arrived == []
    (warned,) = [record for record in caplog.records if "webhook" in record.message]
    assert warned.levelno == logging.WARNING
    assert warned.message == "the job's channel or webhook was not notified"
    assert f"create the secret {SECRET}" in warned.__dict__["reason"]
