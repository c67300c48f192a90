"""Triggers, and the events that wake them."""

import json
from typing import Any

from switchyard.contracts.triggers import Trigger, message_template

EVENT_ID = "17793124-05d4-b198-2fde-7ededc63b103"

S3_EVENT: dict[str, Any] = {
    "version": "0",
    "id": EVENT_ID,
    "detail-type": "Object Created",
    "source": "aws.s3",
    "account": "123456789012",
    "time": "2026-11-16T08:00:00Z",
    "region": "eu-west-1",
    "resources": ["arn:aws:s3:::inbox"],
    "detail": {
        "version": "0",
        "bucket": {"name": "inbox"},
        "object": {
            "key": "uploads/orders.csv",
            "size": 5,
            "etag": "b57f9512698f4b09e608f4f2a65852e5",
            "sequencer": "00617F08299329D189",
        },
        "request-id": "N4N7GDK58NMKJ12R",
        "requester": "123456789012",
        "source-ip-address": "1.2.3.4",
        "reason": "PutObject",
    },
}
"""An upload as S3 reports it to EventBridge."""

SCHEDULED: dict[str, Any] = S3_EVENT | {
    "detail-type": "Scheduled Event",
    "source": "aws.events",
    "resources": ["arn:aws:events:eu-west-1:123456789012:rule/switchyard-test-acme.nightly"],
    "detail": {},
}
UPLOADS = {"bus": "default", "pattern": {"source": ["aws.s3"]}}
JOB: dict[str, Any] = {
    "name": "upload {{event.detail.object.key}}",
    "tags": {"bucket": "{{event.detail.bucket.name}}"},
    "tasks": [
        {"taskId": "read", "name": "scrape", "input": {"size": "{{event.detail.object.size}}"}}
    ],
}
NIGHTLY_JOB: dict[str, Any] = {
    "name": "night of {{schedule.time}}",
    "tasks": [{"taskId": "read", "name": "scrape"}],
}


def a_trigger(name: str = "uploads", **facts: Any) -> Trigger:
    known: dict[str, Any] = {"name": name, "job": JOB}
    if not {"on", "schedule"} & facts.keys():
        known["on"] = UPLOADS
    return Trigger.model_validate(known | facts)


def nightly(**facts: Any) -> Trigger:
    return a_trigger("nightly", schedule="cron(0 3 * * ? *)", job=NIGHTLY_JOB, **facts)


def a_message(
    event: dict[str, Any] = S3_EVENT, *, trigger: str = "uploads", tenant: str = "acme"
) -> str:
    return message_template(tenant, trigger, json.dumps(event))
