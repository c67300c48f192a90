import json
import os
import re
from dataclasses import asdict
from typing import Any
from unittest.mock import patch

import pytest

from stacks.paths import LAMBDAS, REPOSITORY
from stacks.stage import LOCAL, PROD
from switchyard.adapters import aws
from switchyard.contracts.function_names import function_folder
from switchyard.domain.health.diagnosis import OFF_ON_PURPOSE
from switchyard.domain.health.health import HealthLimits
from switchyard.settings import (
    AnswerSlackSettings,
    ApiSettings,
    ArchiveDeadLettersSettings,
    AuthorizerSettings,
    CheckSettings,
    DeadLetterSettings,
    DispatcherSettings,
    MeasureSettings,
    ReportIncidentsSettings,
    SaveEventSettings,
    Settings,
    SignalSettings,
    SweeperSettings,
    TriggerSettings,
)
from tests.stacks.synthesized import Properties, SynthesizedStage, further_queues, text_of

LIMITS = (REPOSITORY / "docs" / "decisions" / "0027-limits-on-aws.md").read_text()
FUNCTIONS: dict[str, type[Settings]] = {
    "alert": ArchiveDeadLettersSettings,
    "answer-slack": AnswerSlackSettings,
    "api": ApiSettings,
    "authorize": AuthorizerSettings,
    "check-health": CheckSettings,
    "dispatch": DispatcherSettings,
    "match-signals": SignalSettings,
    "measure": MeasureSettings,
    "notify": ReportIncidentsSettings,
    "process-dead-letters": DeadLetterSettings,
    "save-event": SaveEventSettings,
    "start-triggered": TriggerSettings,
    "sweep": SweeperSettings,
}
READ_IN_BATCHES = {
    "alerts-queue",
    "dispatch-queue",
    "dispatch-queue-dlq",
    "event-queue",
    "event-queue-dlq",
    "job-queue",
    "job-queue-dlq",
    "signal-queue",
    "signal-queue-dlq",
    "task-queue-dlq",
    "trigger-queue",
    "trigger-queue-dlq",
    "undeliverable-events-dlq",
}


@pytest.fixture(params=FUNCTIONS)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def function(synthesized: SynthesizedStage, name: str) -> Properties:
    return synthesized.one("AWS::Lambda::Function", FunctionName=synthesized.stage.prefixed(name))


def variables_of(function: Properties) -> dict[str, str]:
    """Return a function's environment; a value known only after the deployment is some name."""
    variables: dict[str, Any] = function["Environment"]["Variables"]
    return {name: text_of(value) for name, value in variables.items()}


def test_every_function_is_one_of_these(synthesized: SynthesizedStage) -> None:
    deployed = {function["FunctionName"] for function in synthesized.all("AWS::Lambda::Function")}
    assert deployed == {synthesized.stage.prefixed(name) for name in FUNCTIONS}


def test_functions_run_on_one_platform(function: Properties) -> None:
    assert function["Runtime"] == "python3.13"
    assert function["Architectures"] == ["arm64"]
    assert function["LoggingConfig"]["LogFormat"] == "JSON"


def test_functions_are_traced_where_the_stage_says(
    synthesized: SynthesizedStage, function: Properties
) -> None:
    traced = function.get("TracingConfig") == {"Mode": "Active"}
    assert traced == synthesized.stage.tracing


def test_the_handler_is_where_lambda_will_look(name: str, function: Properties) -> None:
    module, attribute = function["Handler"].split(".")
    source = LAMBDAS / function_folder(name) / f"{module}.py"
    assert f"def {attribute}(" in source.read_text()


def test_a_function_finds_all_its_settings(name: str, function: Properties) -> None:
    with patch.dict(os.environ, variables_of(function), clear=True):
        assert FUNCTIONS[name]()


def test_a_function_says_who_it_is(name: str, function: Properties) -> None:
    variables = variables_of(function)
    assert variables["POWERTOOLS_SERVICE_NAME"] == name
    assert variables["POWERTOOLS_METRICS_NAMESPACE"] == "Switchyard"


def test_no_two_functions_share_a_role(synthesized: SynthesizedStage) -> None:
    functions = synthesized.all("AWS::Lambda::Function")
    assert len({str(function["Role"]) for function in functions}) == len(functions)


def test_one_bad_message_does_not_repeat_its_batch(synthesized: SynthesizedStage) -> None:
    mappings = synthesized.all("AWS::Lambda::EventSourceMapping")
    batched = {synthesized.imported(mapping["EventSourceArn"])["QueueName"] for mapping in mappings}
    assert batched == {
        synthesized.stage.data_name(name)
        for name in (*READ_IN_BATCHES, *further_queues(synthesized.stage, suffix="-dlq"))
    }
    for mapping in mappings:
        assert mapping["FunctionResponseTypes"] == ["ReportBatchItemFailures"]


def test_no_queue_takes_the_concurrency_that_the_api_needs(synthesized: SynthesizedStage) -> None:
    """All functions of an account share 1,000 concurrent executions."""
    limits = [
        mapping["ScalingConfig"]["MaximumConcurrency"]
        for mapping in synthesized.all("AWS::Lambda::EventSourceMapping")
    ]
    assert all(2 <= limit <= 1000 for limit in limits)
    assert sum(limits) <= 500
    if synthesized.stage is not LOCAL:
        found = re.search(r"prod together take at most (\d+), those of dev (\d+)", LIMITS)
        assert found
        assert str(sum(limits)) == found[1 if synthesized.stage is PROD else 2]


def test_each_function_works_on_as_many_batches_as_its_stage_says(
    synthesized: SynthesizedStage,
) -> None:
    asked = asdict(synthesized.stage.concurrency)
    for mapping in synthesized.all("AWS::Lambda::EventSourceMapping"):
        function = synthesized.imported(mapping["FunctionName"])["FunctionName"]
        folder = function_folder(function.removeprefix(synthesized.stage.prefixed("")))
        assert mapping["ScalingConfig"]["MaximumConcurrency"] == asked[folder]


def test_a_step_of_a_job_waits_neither_behind_dispatches_nor_behind_another_step(
    synthesized: SynthesizedStage,
) -> None:
    (mapping,) = [
        mapping
        for mapping in synthesized.all("AWS::Lambda::EventSourceMapping")
        if synthesized.imported(mapping["EventSourceArn"])["QueueName"]
        == synthesized.stage.data_name("job-queue")
    ]
    function = synthesized.imported(mapping["FunctionName"])["FunctionName"]
    assert (function, mapping["BatchSize"]) == (synthesized.stage.prefixed("dispatch"), 1)


def test_only_loops_that_end_by_themselves_may_go_through_a_queue(
    synthesized: SynthesizedStage,
) -> None:
    """Each round of theirs has less to do; in any other function Lambda stops a loop."""
    allowed = [
        function["FunctionName"]
        for function in synthesized.all("AWS::Lambda::Function")
        if function.get("RecursiveLoop", "Terminate") == "Allow"
    ]
    assert sorted(allowed) == [synthesized.stage.prefixed(f) for f in ("dispatch", "match-signals")]


def test_a_call_to_aws_fails_while_its_function_can_still_react(function: Properties) -> None:
    assert aws.USUAL_LIMITS.worst_case_seconds + 5 <= function["Timeout"]


def test_sweeping_and_measuring_run_every_minute_in_every_stage(
    synthesized: SynthesizedStage,
) -> None:
    resources = synthesized.template("health-check")["Resources"]
    rules = [
        rule
        for rule in synthesized.all("AWS::Events::Rule")
        if rule.get("ScheduleExpression") == "rate(1 minute)"
    ]
    targets = [target for rule in rules for target in rule["Targets"]]
    woken = {resources[t["Arn"]["Fn::GetAtt"][0]]["Properties"]["FunctionName"] for t in targets}
    assert woken == {synthesized.stage.prefixed("sweep"), synthesized.stage.prefixed("measure")}
    assert {rule["State"] for rule in rules} == {"ENABLED"}


def test_running_tasks_are_checked_every_five_minutes_where_the_stage_wants_it(
    synthesized: SynthesizedStage,
) -> None:
    resources = synthesized.template("health-check")["Resources"]
    rule = synthesized.one("AWS::Events::Rule", ScheduleExpression="rate(5 minutes)")
    (target,) = rule["Targets"]
    woken = resources[target["Arn"]["Fn::GetAtt"][0]]["Properties"]
    assert woken["FunctionName"] == synthesized.stage.prefixed("check-health")
    assert rule["State"] == ("ENABLED" if synthesized.stage.name == "prod" else "DISABLED")
    assert rule.get("Description", "").startswith(OFF_ON_PURPOSE) == (rule["State"] == "DISABLED")


def test_operators_judge_tasks_by_the_limits_of_the_function(synthesized: SynthesizedStage) -> None:
    emitted = synthesized.template("health-check")["Outputs"]["HealthLimits"]["Value"]
    function = synthesized.one(
        "AWS::Lambda::Function", FunctionName=synthesized.stage.prefixed("check-health")
    )
    with patch.dict(os.environ, variables_of(function), clear=True):
        assert HealthLimits(**json.loads(emitted)) == CheckSettings().limits


def test_a_sweep_ends_before_lambda_ends_it(synthesized: SynthesizedStage) -> None:
    function = synthesized.one(
        "AWS::Lambda::Function", FunctionName=synthesized.stage.prefixed("sweep")
    )
    with patch.dict(os.environ, variables_of(function), clear=True):
        assert SweeperSettings().sweep_seconds + 5 <= function["Timeout"]
