"""Whether a deployment can begin: every answer of an account, and what is said of it."""

from dataclasses import replace
from typing import Any

import pytest

from switchyard.domain.health.diagnosis import Level
from switchyard.domain.health.prerequisites import NotSeen, Prerequisites, judge_prerequisites

READY = Prerequisites(
    stage="dev",
    docker_answers=True,
    caller="arn:aws:iam::123456789012:user/deployer",
    bootstrap_version=21,
    has_claude_secret=True,
)
REFUSED = NotSeen("AccessDenied")


def test_of_an_account_that_is_ready_every_prerequisite_is_met() -> None:
    findings = judge_prerequisites(READY)
    assert [(f.subject, f.level) for f in findings] == [
        ("Docker", Level.OK),
        ("credentials", Level.OK),
        ("bootstrap", Level.OK),
        ("Claude", Level.OK),
    ]


@pytest.mark.parametrize(
    ("found", "subject", "level", "named", "fix"),
    [
        ({"docker_answers": False}, "Docker", Level.FAIL, "No Docker engine", "docker version"),
        ({"caller": NotSeen("ExpiredToken")}, "credentials", Level.FAIL, "ExpiredToken", "aws sso"),
        (
            {"bootstrap_version": None},
            "bootstrap",
            Level.FAIL,
            "CDKToolkit",
            "make bootstrap STAGE=dev",
        ),
        ({"bootstrap_version": 5}, "bootstrap", Level.FAIL, "too old (5", "make bootstrap"),
        ({"bootstrap_version": 6}, "bootstrap", Level.OK, "version 6", ""),
        ({"bootstrap_version": REFUSED}, "bootstrap", Level.WARN, "AccessDenied", "read access"),
        (
            {"has_claude_secret": False},
            "Claude",
            Level.FAIL,
            "switchyard/dev/claude",
            "aws secretsmanager create-secret --name switchyard/dev/claude",
        ),
        ({"has_claude_secret": REFUSED}, "Claude", Level.WARN, "AccessDenied", "read access"),
    ],
)
def test_what_is_missing_is_named_with_the_command_that_provides_it(
    found: dict[str, Any], subject: str, level: Level, named: str, fix: str
) -> None:
    (finding,) = (f for f in judge_prerequisites(replace(READY, **found)) if f.subject == subject)
    assert finding.level is level
    assert named in finding.said
    assert fix in (finding.fix or "")


def test_all_that_is_missing_is_found_at_once() -> None:
    nothing = replace(READY, docker_answers=False, bootstrap_version=None, has_claude_secret=False)
    failed = [f.subject for f in judge_prerequisites(nothing) if f.level is Level.FAIL]
    assert failed == ["Docker", "bootstrap", "Claude"]


def test_without_credentials_nothing_else_of_the_account_is_judged() -> None:
    unknown = replace(READY, caller=REFUSED, bootstrap_version=REFUSED, has_claude_secret=REFUSED)
    assert [f.subject for f in judge_prerequisites(unknown)] == ["Docker", "credentials"]
