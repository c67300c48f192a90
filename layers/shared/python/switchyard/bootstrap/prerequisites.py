"""Wires what examines an account before a stage is deployed to it."""

from switchyard.adapters.aws_inspection import AwsInspection
from switchyard.domain.health.diagnosis import Finding
from switchyard.usecases.health.examine_prerequisites import examine_prerequisites


def deployment_findings(stage: str, *, docker_answers: bool) -> list[Finding]:
    """Examine the account and region that the environment's credentials name."""
    inspection = AwsInspection(stage)
    return examine_prerequisites(inspection, stage=stage, docker_answers=docker_answers)
