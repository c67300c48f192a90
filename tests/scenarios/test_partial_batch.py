"""The half of the partial batch that is behind a Lambda function."""

import io
import json
import zipfile
from typing import Any

import pytest

from switchyard_scenarios.harness import behind_lambda
from switchyard_scenarios.harness.harness import Harness
from switchyard_scenarios.harness.names import Names
from switchyard_scenarios.harness.place import Place
from switchyard_scenarios.reporting.evidence import Evidence
from switchyard_scenarios.scenarios import batch_function
from switchyard_scenarios.scenarios.partial_batch import BEHIND_LAMBDA, SCENARIO

IN_BOTH = ("message_id", "payload_digest")


class Context:
    aws_request_id = "batch-1"


@pytest.fixture
def harness(moto_place: Place, monkeypatch: pytest.MonkeyPatch) -> Harness:
    harness = Harness(place=moto_place, names=Names.numbered(1))
    harness.build()
    monkeypatch.setenv("MESSAGE_STATUS_TABLE", harness.names.message_status)
    monkeypatch.setenv("MESSAGE_COMPLETED_TABLE", harness.names.message_completed)
    monkeypatch.setattr(batch_function, "dynamodb", lambda: moto_place.client("dynamodb"))
    return harness


def record(name: str, *, failures: int, delivery: int = 1) -> dict[str, Any]:
    return {
        "messageId": f"id-of-{name}",
        "body": json.dumps({"input": {batch_function.FAILURES: failures}}),
        "attributes": {"ApproximateReceiveCount": str(delivery)},
        "messageAttributes": {"requestId": {"stringValue": name, "dataType": "String"}},
        "eventSource": "aws:sqs",
    }


def test_the_function_names_what_failed_and_completes_the_rest(harness: Harness) -> None:
    event = {"Records": [record("good", failures=0), record("bad", failures=1)]}
    answer = batch_function.handler(event, Context())  # type: ignore[arg-type]
    assert answer == {"batchItemFailures": [{"itemIdentifier": "id-of-bad"}]}
    assert set(harness.completed()) == {"good"}
    assert {name: row["status"] for name, row in harness.statuses().items()} == {
        "good": "COMPLETED",
        "bad": "STARTED",
    }


def test_what_failed_is_completed_when_it_comes_again(harness: Harness) -> None:
    for delivery in (1, 2):
        good = record("good", failures=0)
        event = {"Records": [good, record("bad", failures=1, delivery=delivery)]}
        answer = batch_function.handler(event, Context())  # type: ignore[arg-type]
    assert answer == {"batchItemFailures": []}
    status, completed = harness.statuses()["bad"], harness.completed()["bad"]
    assert (status["status"], status["attempts"]) == ("COMPLETED", 2)
    assert set(status) == {*IN_BOTH, "status", "attempts", "last_updated", "first_batch"}
    assert set(completed) == {*IN_BOTH, "processed_at"}
    assert all(status[name] == completed[name] for name in IN_BOTH)


def test_on_a_stage_without_a_role_it_is_told_that_this_half_did_not_run(harness: Harness) -> None:
    evidence = Evidence()
    assert SCENARIO._begin_behind_lambda(harness, evidence) is None
    assert [note.label for note in evidence.notes] == [f"not run {BEHIND_LAMBDA}"]
    assert evidence.counts == {f"not run {BEHIND_LAMBDA}": 10}


def test_on_aws_the_function_brings_along_what_it_imports() -> None:
    def packed(*, whole: bool) -> set[str]:
        with zipfile.ZipFile(io.BytesIO(behind_lambda.archive(whole=whole))) as file:
            return set(file.namelist())

    assert packed(whole=False) == {"batch_function.py"}
    assert {
        "batch_function.py",
        "typing_extensions.py",
        "jmespath/__init__.py",
        "aws_lambda_powertools/utilities/batch/base.py",
    } <= packed(whole=True)
