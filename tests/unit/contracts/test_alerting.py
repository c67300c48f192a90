"""The messages of the alerts queue, and which subject each names."""

import json
from typing import Any

import pytest

from switchyard.contracts.alerting import JOB_EVENTS, CheckSubject, NotAWakeUp, subject_to_check
from tests.builders import JOB_ID

QUEUE = "switchyard-dev-event-queue-dlq"


def an_event(detail_type: str, detail: dict[str, Any]) -> str:
    return json.dumps({"version": "0", "detail-type": detail_type, "detail": detail})


def of_job(tenant: str = "acme", job_id: str = JOB_ID, event_type: str = "Job Failed") -> str:
    detail = {"eventType": event_type, "tenantId": tenant, "properties": {"jobId": job_id}}
    return an_event("log-event", detail)


def of_object(key: str, detail_type: str = "Object Created") -> str:
    return an_event(detail_type, {"bucket": {"name": "b"}, "object": {"key": key, "size": 3}})


@pytest.mark.parametrize("event_type", JOB_EVENTS)
def test_an_event_of_a_job_names_the_job(event_type: str) -> None:
    assert str(subject_to_check(of_job(event_type=event_type))) == f"job/acme/{JOB_ID}"


def of_task(request_id: str, **more: str) -> str:
    properties = {"requestId": request_id, **more}
    detail = {"eventType": "Task Failed", "tenantId": "acme", "properties": properties}
    return an_event("log-event", detail)


def test_an_event_of_a_task_without_a_job_names_the_task_and_else_its_job() -> None:
    assert str(subject_to_check(of_task("order-7"))) == "task/acme/order-7"
    assert str(subject_to_check(of_task(f"{JOB_ID}__a", jobId=JOB_ID))) == f"job/acme/{JOB_ID}"


@pytest.mark.parametrize("detail_type", ["Object Created", "Object Deleted"])
def test_a_dead_letter_names_its_queue(detail_type: str) -> None:
    stored = of_object(f"undeliverable/{QUEUE}/2027-01-15/m-1.json", detail_type)
    assert str(subject_to_check(stored)) == f"letters/{QUEUE}"
    parked = of_object(f"parked/{QUEUE}/2027-01-15/m-1.json", detail_type)
    assert str(subject_to_check(parked)) == f"letters/{QUEUE}"
    older = of_object("quarantine/2027-01-15/m-1.json", detail_type)
    assert str(subject_to_check(older)) == "letters/quarantine"


def test_an_alarm_names_itself() -> None:
    detail = {"alarmName": "switchyard-dev-event-not-saved", "state": {"value": "ALARM"}}
    body = an_event("CloudWatch Alarm State Change", detail)
    assert str(subject_to_check(body)) == "alarm/switchyard-dev-event-not-saved"


def test_a_check_request_names_its_subject() -> None:
    body = CheckSubject(subject="letters/quarantine").model_dump_json(by_alias=True)
    assert str(subject_to_check(body)) == "letters/quarantine"


@pytest.mark.parametrize(
    "body",
    [
        "not json",
        "[]",
        "{}",
        '{"subject": ""}',
        '{"subject": "nobody"}',
        '{"subject": "task/x"}',
        '{"subject": "task/acme/job-1__a"}',
        an_event("Something Else", {}),
        of_task(""),
        of_task("job-1"),
        of_task("a/b"),
        of_task(f"{JOB_ID}__a"),
        of_job(tenant="ACME#1"),
        of_job(tenant="acme\n"),
        of_job(job_id="job-1/../x"),
        of_object("undeliverable/loose.json"),
        of_object("parked/loose.json"),
        of_object("task/logs/x"),
        an_event("CloudWatch Alarm State Change", {}),
    ],
)
def test_any_other_message_is_refused(body: str) -> None:
    with pytest.raises(NotAWakeUp):
        subject_to_check(body)
