"""Every function starts, and answers its recorded event, with its layers and nothing else.

So does all that the other tests of this folder call: `conftest` and `recorder` see to it.
"""

import json
from typing import Any
from unittest.mock import ANY
from uuid import uuid4

import pytest

from switchyard.contracts.function_names import service_name
from switchyard_local.functions.invoke import function_names
from tests.e2e.conftest import ROOT, RunningCloud
from tests.e2e.functions.archives import zipped
from tests.fakes.servers.otlp_receiver import an_otlp_receiver

NOTHING_FAILED: dict[str, list[str]] = {"batchItemFailures": []}
ANSWERS: dict[str, Any] = {
    "answer_slack": {"statusCode": 404, "headers": ANY, "body": ANY},  # no secret is deployed
    "api": {
        "statusCode": 200,
        "headers": ANY,
        "body": ANY,
        "cookies": [],
        "isBase64Encoded": False,
    },
    "archive_dead_letters": NOTHING_FAILED,
    "authorize": {"isAuthorized": False},
    "check_health": {
        "totalProcessing": ANY,
        "healthy": ANY,
        "warning": ANY,
        "critical": ANY,
        "overtime": ANY,
        "notProgressing": ANY,
    },
    "dispatch": {"batchItemFailures": [{"itemIdentifier": ANY}]},  # its job was never submitted
    "match_signals": NOTHING_FAILED,
    "measure": None,
    "process_dead_letters": NOTHING_FAILED,
    "report_incidents": NOTHING_FAILED,
    "save_event": NOTHING_FAILED,
    "start_triggered": NOTHING_FAILED,
    "sweep": None,
}
PROBE = """
import importlib, sys

def handler(event, context):
    found = []
    for name in event:
        try:
            found.append(importlib.import_module(name).__file__)
        except ImportError:
            pass
    return {"found": found, "searched": sys.path}
"""


def recorded(verb: str) -> Any:
    return json.loads((ROOT / "tests" / "events" / f"{verb}.json").read_text())


def invoked(cloud: RunningCloud, function: str, event: Any) -> Any:
    answer = cloud.client("lambda").invoke(FunctionName=function, Payload=json.dumps(event))
    payload = json.load(answer["Payload"])
    assert "FunctionError" not in answer, payload
    return payload


@pytest.mark.parametrize("verb", function_names(ROOT))
def test_a_function_answers_its_recorded_event(cloud: RunningCloud, verb: str) -> None:
    deployed = f"switchyard-local-{service_name(verb)}"
    assert invoked(cloud, deployed, recorded(verb)) == ANSWERS[verb]


def a_traced_batch() -> Any:
    """The end of an attempt that was saved by no other test."""
    batch = recorded("dispatch")
    (record,) = batch["Records"]
    saved_before = json.loads(record["body"])["detail"]["eventId"]
    envelope = json.loads(record["body"].replace(saved_before, str(uuid4())))
    envelope["detail"]["context"]["traceId"] = "4bf92f3577b34da6a3ce929d0e0e4736"
    envelope["detail"]["properties"]["startedAt"] = envelope["detail"]["timestamp"] - 1_234
    record["body"] = json.dumps(envelope)
    return batch


def test_a_function_that_exports_spans_answers_too(cloud: RunningCloud) -> None:
    function = "switchyard-local-save-event"
    with (
        an_otlp_receiver() as receiver,
        cloud.configured(function, OTEL_EXPORTER_OTLP_ENDPOINT=receiver.endpoint),
    ):
        assert invoked(cloud, function, a_traced_batch()) == NOTHING_FAILED
    assert len(receiver.spans()) == 1


def test_a_function_finds_no_package_of_this_machine(cloud: RunningCloud) -> None:
    """The tests above would notice a missing package because of this."""
    functions = cloud.client("lambda")
    like = functions.get_function(FunctionName="switchyard-local-save-event")["Configuration"]
    functions.create_function(
        FunctionName="probe",
        Runtime=like["Runtime"],
        Role=like["Role"],
        Handler="probe.handler",
        Code={"ZipFile": zipped({"probe.py": PROBE})},
    )
    try:
        seen = invoked(cloud, "probe", ["switchyard", "httpx", "moto", "pytest", "yaml"])
    finally:
        functions.delete_function(FunctionName="probe")
    assert seen["found"] == []
    assert not [entry for entry in seen["searched"] if "site-packages" in entry]
