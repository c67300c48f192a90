"""What is written for SAM fits the templates that it is used with."""

import json
from pathlib import Path
from typing import Any

import pytest

from switchyard_local.errors import CloudError
from switchyard_local.functions.sam_env import write


def a_template(**variables: Any) -> dict[str, Any]:
    environment = {"POWERTOOLS_SERVICE_NAME": "save-event", **variables}
    function = {
        "FunctionName": "switchyard-dev-save-event",
        "Environment": {"Variables": environment},
    }
    return {
        "Resources": {
            "Function1A2B": {"Type": "AWS::Lambda::Function", "Properties": function},
            "OfTheCdk": {"Type": "AWS::Lambda::Function", "Properties": {"Handler": "index.h"}},
            "Queue": {"Type": "AWS::SQS::Queue"},
        }
    }


def declared_in(file: Path) -> Any:
    function = json.loads(file.read_text())["Resources"]["Function1A2B"]
    return function["Properties"]["Environment"]["Variables"]


def test_a_function_of_the_templates_has_the_values_of_the_deployed_one(tmp_path: Path) -> None:
    template = tmp_path / "switchyard-dev-event.template.json"
    template.write_text(json.dumps(a_template(TABLE={"Fn::ImportValue": "elsewhere"})))
    values = {"TABLE": "events-local", "STAGE": "local"}

    file = write(tmp_path, {"save_event": values})

    assert json.loads(file.read_text()) == {"switchyard-dev-save-event": values}


def test_what_a_template_does_not_declare_is_declared_for_sam_would_drop_it(tmp_path: Path) -> None:
    template = tmp_path / "switchyard-dev-event.template.json"
    imported = {"Fn::ImportValue": "elsewhere"}
    template.write_text(json.dumps(a_template(TABLE=imported)))

    write(tmp_path, {"save_event": {"TABLE": "t", "AWS_ENDPOINT_URL": "http://127.0.0.1:1"}})

    assert declared_in(template)["TABLE"] == imported
    assert declared_in(template)["AWS_ENDPOINT_URL"] == ""


def test_a_folder_without_templates_is_named(tmp_path: Path) -> None:
    with pytest.raises(CloudError, match=f"no templates with functions in {tmp_path}"):
        write(tmp_path, {})
