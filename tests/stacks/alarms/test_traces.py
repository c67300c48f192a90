"""Where traces go: nowhere, unless a stage names a collector."""

from dataclasses import replace
from pathlib import Path

import pytest
from aws_cdk import App
from aws_cdk.assertions import Match, Template

from stacks.event import EventStack
from stacks.infrastructure import InfrastructureStack
from stacks.stage import LOCAL, STAGES, Stage


def an_event_stack(stage: Stage, folder: Path) -> Template:
    app = App(
        outdir=str(folder), analytics_reporting=False, builtin_cloud_formation_validation=False
    )
    shared = InfrastructureStack(app, "infrastructure", stage=stage)
    return Template.from_stack(EventStack(app, "event", stage=stage, shared=shared))


def test_no_stage_exports_traces_by_itself() -> None:
    assert {stage.otlp_endpoint for stage in STAGES.values()} == {""}


@pytest.mark.parametrize("endpoint", ["", "https://collector.example:4318"])
def test_only_who_exports_traces_knows_the_collector_and_its_secret(
    endpoint: str, tmp_path: Path
) -> None:
    template = an_event_stack(replace(LOCAL, otlp_endpoint=endpoint), tmp_path)

    [function] = template.find_resources("AWS::Lambda::Function").values()
    variables = function["Properties"]["Environment"]["Variables"]
    known = {name: variables.get(name) for name in ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTLP_SECRET")}
    reading = {"Action": "secretsmanager:GetSecretValue", "Effect": "Allow"}
    policy = {"PolicyDocument": {"Statement": Match.array_with([Match.object_like(reading)])}}
    granted = template.find_resources("AWS::IAM::Policy", {"Properties": policy})

    wanted = (endpoint, "switchyard/local/otlp") if endpoint else (None, None)
    assert tuple(known.values()) == wanted
    assert bool(granted) is bool(endpoint)
