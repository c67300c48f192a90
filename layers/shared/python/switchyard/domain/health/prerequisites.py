"""Decides whether a deployment can begin: what is missing, and the command that provides it."""

from dataclasses import dataclass
from typing import Final

from switchyard.domain.health.diagnosis import Finding, Level, judge_claude

OLDEST_BOOTSTRAP: Final = 6
"""The first version of the CDK's bootstrap stack that the templates accept."""
CREDENTIALS: Final = "credentials"
LOG_IN: Final = "aws sso login, or set AWS_PROFILE; and AWS_REGION to the stage's region"


@dataclass(frozen=True, slots=True)
class NotSeen:
    """A look that AWS refused, and its answer."""

    answer: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Prerequisites:
    """The prerequisites of a deployment, as they were found before templates are synthesized."""

    stage: str
    docker_answers: bool
    caller: str | NotSeen
    bootstrap_version: int | NotSeen | None
    """The bootstrap's version; `None` if the account was never bootstrapped in this region."""
    has_claude_secret: bool | NotSeen


def judge_prerequisites(found: Prerequisites) -> list[Finding]:
    """Return one finding per prerequisite.

    Without credentials nothing else of the account can be seen, so that they are the only finding
    about it. Credentials that deploy may lack the right to look: that alone is a warning.
    """
    docker = _judge_docker(answers=found.docker_answers)
    if isinstance(found.caller, NotSeen):
        said = f"AWS does not accept you ({found.caller.answer})"
        return [docker, _fail(CREDENTIALS, said, LOG_IN)]
    return [
        docker,
        Finding(CREDENTIALS, Level.OK, found.caller),
        _judge_bootstrap(found.bootstrap_version, stage=found.stage),
        _judge_secret(present=found.has_claude_secret, secret=f"switchyard/{found.stage}/claude"),
    ]


def _judge_docker(*, answers: bool) -> Finding:
    if answers:
        return Finding("Docker", Level.OK, "an engine answers")
    said = "No Docker engine answers, and the worker's image needs one"
    return _fail("Docker", said, "start it (docker version shows whether it answers)")


def _judge_bootstrap(version: int | NotSeen | None, *, stage: str) -> Finding:
    bootstrap = f"make bootstrap STAGE={stage}"
    if isinstance(version, NotSeen):
        return _unseen("bootstrap", "The stack CDKToolkit", version)
    if version is None:
        said = "The CDK is not bootstrapped in this account and region (no stack CDKToolkit)"
        return _fail("bootstrap", said, bootstrap)
    if version < OLDEST_BOOTSTRAP:
        said = f"The CDK's bootstrap stack is too old ({version}, needed is {OLDEST_BOOTSTRAP})"
        return _fail("bootstrap", said, bootstrap)
    return Finding("bootstrap", Level.OK, f"version {version}")


def _judge_secret(*, present: bool | NotSeen, secret: str) -> Finding:
    if isinstance(present, NotSeen):
        return _unseen("Claude", f"The secret {secret}", present)
    return judge_claude(found=present, secret=secret)


def _fail(subject: str, said: str, fix: str) -> Finding:
    return Finding(subject, Level.FAIL, said, fix)


def _unseen(subject: str, what: str, refused: NotSeen) -> Finding:
    said = f"{what} could not be checked ({refused.answer})"
    return Finding(subject, Level.WARN, said, "ask for read access to it in the stage's account")
