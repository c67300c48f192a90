"""cdk-nag's AWS Solutions rules; every finding is fixed, or acknowledged with a reason."""

from pathlib import Path

import pytest
from aws_cdk import App, Stack
from aws_cdk.aws_sqs import Queue

from app import add_security_checks
from tests.stacks.synthesized import SynthesizedStage


def test_no_finding_is_left_unanswered(synthesized: SynthesizedStage) -> None:
    assert synthesized.findings == ""


def test_an_unanswered_finding_stops_the_synthesis(tmp_path: Path) -> None:
    app = App(outdir=str(tmp_path), builtin_cloud_formation_validation=False)
    Queue(Stack(app, "Careless"), "WithoutTls")
    add_security_checks(app)
    with pytest.raises(RuntimeError, match="AwsSolutions-SQS4"):
        app.synth()
