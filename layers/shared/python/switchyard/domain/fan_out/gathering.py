"""Decides how a fan-out ends, when all its items have settled."""

from collections.abc import Mapping, Sequence

from switchyard.domain.fan_out.fan_outs import CATEGORY, Tolerance
from switchyard.domain.states import TaskState
from switchyard.domain.tasks.readiness import DISPATCHER, Shortfall
from switchyard.domain.tasks.task import Outcome


def gathered(
    states: Mapping[str, TaskState], tolerate: Tolerance, *, duration_ms: int = 0
) -> Outcome:
    """Count the items that did not complete; `states` are by the ids of the items."""
    lost = [name for name, state in states.items() if state is not TaskState.COMPLETED]
    allowed = tolerate.of(len(states))
    if len(lost) <= allowed:
        return Outcome(state=TaskState.COMPLETED, duration_ms=duration_ms)
    return failed(_too_many(lost, len(states), allowed), duration_ms=duration_ms)


def failed(reason: str, *, duration_ms: int = 0) -> Outcome:
    return Outcome(
        state=TaskState.FAILED,
        error=reason,
        error_category=CATEGORY,
        duration_ms=duration_ms,
        source=DISPATCHER,
    )


def _too_many(lost: Sequence[str], total: int, allowed: int) -> str:
    accepted = f", of which {allowed:,} may fail" if allowed else ""
    return f"{len(lost):,} of {total:,} items{accepted}, {Shortfall.of(lost)}"
