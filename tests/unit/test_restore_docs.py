"""The script of the restoring page makes a table equal to a restored one, except what must stay."""

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import boto3
import pytest
from moto import mock_aws

from tests.fakes.tables import a_table

PAGE = Path(__file__).parents[2] / "docs" / "restore.md"
REGION = "us-east-1"
KEYS = ("TENANT#acme#APIKEYS", "KEY#1")
PAUSE = ("STAGE#CONSUMPTION", "CONSUMPTION")
JOB = ("TENANT#acme#JOB#job-1", "JOB")
LATER = ("TENANT#acme#JOB#job-2", "JOB")
TASK = ("TENANT#acme#JOB#job-1", "TASK#a")


@pytest.fixture
def tables(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "test")
    monkeypatch.setenv("AWS_DEFAULT_REGION", REGION)
    with mock_aws():
        boto3.setup_default_session(region_name=REGION)
        dynamodb = boto3.client("dynamodb")
        for name in ("restored", "present"):
            a_table(dynamodb, name)
        yield dynamodb
    boto3.DEFAULT_SESSION = None


def put(dynamodb: Any, table: str, key: tuple[str, str], **facts: str) -> None:
    said = {name: {"S": value} for name, value in facts.items()}
    item = {"PK": {"S": key[0]}, "SK": {"S": key[1]}, **said}
    dynamodb.put_item(TableName=table, Item=item)


def content(dynamodb: Any, table: str) -> dict[tuple[str, str], str]:
    items = dynamodb.scan(TableName=table)["Items"]
    return {(i["PK"]["S"], i["SK"]["S"]): i.get("said", {}).get("S", "") for i in items}


def copy_back(monkeypatch: pytest.MonkeyPatch) -> None:
    [script] = re.findall(r"```python\n(.*?)```", PAGE.read_text(), flags=re.DOTALL)
    monkeypatch.setattr(sys, "argv", ["copy_back.py", "restored", "present"])
    exec(compile(script, "copy_back.py", "exec"), {})


def test_jobs_go_back_and_keys_and_the_pause_stay(
    tables: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(tables, "restored", JOB, said="open")
    put(tables, "restored", TASK, said="queued")
    put(tables, "restored", KEYS, said="valid")
    put(tables, "present", JOB, said="completed")
    put(tables, "present", LATER, said="accepted since")
    put(tables, "present", KEYS, said="revoked")
    put(tables, "present", PAUSE, said="restoring")
    for _ in range(2):  # it may be run again
        copy_back(monkeypatch)
        assert content(tables, "present") == {
            JOB: "open",
            TASK: "queued",
            KEYS: "revoked",
            PAUSE: "restoring",
        }
