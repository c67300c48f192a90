"""State changes of a held task, which no worker runs. `docs/protocol.md` says why each guard."""

from typing import Final

from switchyard.domain.states import TaskState
from switchyard.domain.tasks import due
from switchyard.domain.tasks.task import Outcome, Task
from switchyard.domain.transition import Transition, equal, same

_READY: Final = equal("state", TaskState.READY)


def hold(task: Task, *, held_until_ms: int) -> Transition:
    """Hold a task that no worker runs, once its event was emitted: until it is resolved."""
    return Transition(
        name="hold",
        guard=(_READY, equal("run", task.run)),
        sets={"state": TaskState.HELD, "held_until_ms": held_until_ms},
        adds={"fence": 1},
        due=held_until_ms,
    )


def resolve(
    task: Task, outcome: Outcome, *, now_ms: int, decision: str | None = None
) -> Transition:
    """End a held task: by the request `decision`, or by time. Of two decisions the first counts."""
    return Transition(
        name="resolve",
        guard=(
            equal("state", TaskState.HELD),
            equal("run", task.run),
            equal("fence", task.fence),
        ),
        sets={"state": outcome.state, "outcome": outcome, "settled_at_ms": now_ms}
        | ({"decision": decision} if decision else {}),
        adds={"fence": 1},
        removes=("resends",),
        due=now_ms + due.AFTER_SETTLING,
        already=(
            equal("state", outcome.state),
            equal("fence", task.fence + 1),
            same("decision", decision),
        ),
    )
