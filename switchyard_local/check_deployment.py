"""`python -m switchyard_local.check_deployment STAGE`: can `make deploy` do its work?

`make diff` and `make bootstrap` need nothing but credentials: `--credentials-only`.
"""

import argparse
import subprocess
import sys

from switchyard.domain.health.diagnosis import Finding, Level
from switchyard.domain.health.prerequisites import CREDENTIALS

FAILED = 1
INTERRUPTED = 130
SKIP = "To deploy all the same: make deploy STAGE={} SKIP_CHECKS=yes"


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m switchyard_local.check_deployment")
    parser.add_argument("stage")
    parser.add_argument("--credentials-only", action="store_true")
    asked = parser.parse_args(arguments)
    from switchyard.bootstrap.prerequisites import deployment_findings  # noqa: PLC0415 - boto3

    try:
        if asked.credentials_only:
            findings = deployment_findings(asked.stage, docker_answers=True)
            return report_credentials(findings)
        findings = deployment_findings(asked.stage, docker_answers=docker_answers())
    except KeyboardInterrupt:
        return INTERRUPTED
    return report(findings, stage=asked.stage)


def docker_answers() -> bool:
    """Return whether a Docker engine answers the command line that the CDK builds images with."""
    try:
        asked = subprocess.run(["docker", "version"], capture_output=True, check=False)
    except OSError:  # no such command
        return False
    return asked.returncode == 0


def report(findings: list[Finding], *, stage: str) -> int:
    """Print every problem in a sentence of its own; return the exit code."""
    code = print_problems(findings)
    if code == FAILED:
        sys.stderr.write(f"{SKIP.format(stage)}\n")
    return code


def report_credentials(findings: list[Finding]) -> int:
    """Print what is wrong with the credentials alone; return the exit code."""
    return print_problems([finding for finding in findings if finding.subject == CREDENTIALS])


def print_problems(findings: list[Finding]) -> int:
    for finding in findings:
        if finding.level is not Level.OK:
            sys.stderr.write(f"{sentence(finding)}\n")
    return FAILED if any(finding.level is Level.FAIL for finding in findings) else 0


def sentence(finding: Finding) -> str:
    said = finding.said[0].upper() + finding.said[1:]
    return f"{said}. To fix it: {finding.fix}" if finding.fix else said


if __name__ == "__main__":
    sys.exit(main())
