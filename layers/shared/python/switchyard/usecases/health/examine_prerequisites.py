"""Examines an account before a deployment."""

from collections.abc import Callable
from typing import TypeVar

from switchyard.domain.errors import Unavailable
from switchyard.domain.health.diagnosis import Finding
from switchyard.domain.health.prerequisites import NotSeen, Prerequisites, judge_prerequisites
from switchyard.ports import Inspection

T = TypeVar("T")


def examine_prerequisites(
    inspection: Inspection, *, stage: str, docker_answers: bool
) -> list[Finding]:
    """Look at everything that a deployment needs; a look that is refused is judged, too."""
    caller = _look(inspection.caller)
    if isinstance(caller, NotSeen):  # every other look would be refused as well
        bootstrap_version: int | NotSeen | None = caller
        has_secret: bool | NotSeen = caller
    else:
        bootstrap_version = _look(inspection.bootstrap_version)
        has_secret = _look(lambda: inspection.has_secret(f"switchyard/{stage}/claude"))
    return judge_prerequisites(
        Prerequisites(
            stage=stage,
            docker_answers=docker_answers,
            caller=caller,
            bootstrap_version=bootstrap_version,
            has_claude_secret=has_secret,
        )
    )


def _look(look: Callable[[], T]) -> T | NotSeen:
    try:
        return look()
    except Unavailable as error:
        return NotSeen(str(error))
