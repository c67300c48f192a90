"""State changes of a fan-out. `docs/protocol.md` says why each guard is needed.

It is READY while its tasks are written, WAITING while they run, READY again when all have settled,
and ends when their outputs are gathered.
"""

from typing import Final

from switchyard.domain.fan_out.earlier_items import left_the_list
from switchyard.domain.states import SETTLED, TaskState
from switchyard.domain.tasks import due
from switchyard.domain.tasks.task import NO_OVERRIDES, Outcome, Task
from switchyard.domain.tasks.transitions import OF_THE_LAST_RUN
from switchyard.domain.transition import (
    Absent,
    AnyOf,
    Due,
    Guard,
    OneOf,
    Transition,
    at_least,
    below,
    equal,
)

_READY: Final = equal("state", TaskState.READY)
_NOBODY_IS_AT_IT: Final = OneOf(
    "state", (*(state for state in TaskState if state in SETTLED), TaskState.WAITING)
)
_DECLARED: Final = (
    "kind",
    "conditional",
    "tolerated",
    "parent_count",
    "items_run",
    "overrides",
    "queue",
    "priority",
    "lease_ms",
    "limits",
)
"""The attributes that a task has only if its request sets them."""
_UNSAID: Final = (None, False, 0, NO_OVERRIDES, ())


def note_expanded(task: Task, expanded: int, *, now_ms: int) -> Transition:
    """Remember how many items of the fan-out are written; what is known of more stays."""
    fewer = AnyOf(((Absent("expanded"),), (below("expanded", expanded),)))
    return Transition(
        name="note_expanded",
        guard=(*_unexpanded(task), fewer),
        sets={"expanded": expanded},
        due=now_ms + due.AFTER_READY,
    )


def delay_expansion(task: Task, reason: str, *, due_at_ms: int) -> Transition:
    """Leave the fan-out for later, and say why: its tenant has too many open tasks."""
    return Transition(
        name="delay_expansion",
        guard=_unexpanded(task),
        sets={"last_error": reason},
        due=due_at_ms,
    )


def open_fan_out(task: Task, *, waiting_on: frozenset[str], child_count: int) -> Transition:
    """Let the fan-out wait for its tasks, all of which are written and may run from now on."""
    return Transition(
        name="open_fan_out",
        guard=_unexpanded(task),
        sets={
            "state": TaskState.WAITING,
            "waiting_on": waiting_on,
            "child_count": child_count,
        },
        removes=("expanded", "last_error", "resends"),
        adds={"fence": 1},
        due=Due.REMOVED,
        already=(equal("run", task.run), equal("child_count", child_count)),
    )


def gather(task: Task, outcome: Outcome, *, now_ms: int) -> Transition:
    """End a fan-out whose items have all settled, or of which none could be made."""
    return Transition(
        name="gather",
        guard=(_READY, equal("run", task.run), equal("fence", task.fence)),
        sets={"state": outcome.state, "outcome": outcome, "settled_at_ms": now_ms},
        removes=("resends",),
        adds={"fence": 1},
        due=now_ms + due.AFTER_SETTLING,
        already=(equal("state", outcome.state), equal("fence", task.fence + 1)),
    )


def replace_item(item: Task) -> Transition:
    """Let a task of the present list, or template, take the place of one that was made earlier.

    An earlier one has settled, or waits for what never happens: it was written and never opened.
    """
    given = {name: getattr(item, name) for name in _DECLARED}
    absent = tuple(name for name, value in given.items() if value in _UNSAID)
    return Transition(
        name="replace_item",
        guard=_of_an_earlier_list(item.run),
        sets={
            "state": TaskState.WAITING,
            "run": item.run,
            "attempt": 0,
            "waiting_on": item.waiting_on,
            "definition": item.definition,
            "definition_version": item.definition_version,
            "max_attempts": item.max_attempts,
            "rule": item.rule,
            **{name: value for name, value in given.items() if name not in absent},
        },
        removes=(
            *OF_THE_LAST_RUN,
            "not_completed",
            "ready_at_ms",
            "expanded",
            "child_count",
            *absent,
        ),
        adds={"fence": 1},
        due=Due.REMOVED,
        already=(at_least("run", item.run),),
    )


def drop_item(*, items_run: int, now_ms: int) -> Transition:
    """End an item of an earlier list of which the present one has nothing any more."""
    outcome = left_the_list()
    return Transition(
        name="drop_item",
        guard=_of_an_earlier_list(items_run),
        sets={
            "state": outcome.state,
            "run": items_run,
            "attempt": 0,
            "outcome": outcome,
            "settled_at_ms": now_ms,
        },
        removes=(
            *(name for name in OF_THE_LAST_RUN if name not in ("outcome", "settled_at_ms")),
            "not_completed",
            "ready_at_ms",
            "waiting_on",
        ),
        adds={"fence": 1},
        due=now_ms + due.AFTER_SETTLING,
        already=(equal("run", items_run), equal("state", outcome.state)),
    )


def _of_an_earlier_list(items_run: int) -> Guard:
    return (_NOBODY_IS_AT_IT, below("run", items_run))


def _unexpanded(task: Task) -> Guard:
    return (_READY, equal("run", task.run), Absent("child_count"))
