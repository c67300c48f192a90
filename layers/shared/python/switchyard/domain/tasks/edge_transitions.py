"""Changes of what a task waits for; none changes a state. `docs/protocol.md` says why each guard.

Every change of a state is in `transitions.py`.
"""

from collections.abc import Mapping
from typing import Final

from switchyard.domain.states import SETTLED, TaskState
from switchyard.domain.tasks.task import Task, parent_of
from switchyard.domain.transition import Contains, OneOf, Transition, equal

_WAITING: Final = equal("state", TaskState.WAITING)
_UNSETTLED: Final = tuple(state for state in TaskState if state not in SETTLED)


def remove_edges(tokens: Mapping[str, bool]) -> Transition:
    """Take the tokens of settled parents out of `waiting_on`; each is true if that completed."""
    lost = frozenset(parent_of(token) for token, completed in tokens.items() if not completed)
    return Transition(
        name="remove_edges",
        guard=tuple(Contains("waiting_on", token) for token in tokens),
        deletes={"waiting_on": frozenset(tokens)},
        adds={"not_completed": lost} if lost else {},
    )


def follow_relay(end: Task, relay: Task, *, instead_of: Task | None = None) -> Transition:
    """Let `__end__` wait for the relay of added tasks; `instead_of` another, where it names many.

    Only in that case its whole set is written: else other edges may be removed meanwhile.
    """
    waits = (_WAITING, equal("run", end.run))
    if instead_of is None:
        adds = {"waiting_on": frozenset({relay.token})}
        return Transition(name="follow_relay", guard=waits, adds=adds)
    return Transition(
        name="follow_relay",
        guard=(*waits, equal("waiting_on", end.waiting_on)),
        sets={"waiting_on": (end.waiting_on - {instead_of.token}) | {relay.token}},
    )


def stay_parent(task: Task) -> Transition:
    """Write nothing, while tasks that follow this one are added: it settles before, or after.

    Who runs an unsettled one may go on meanwhile.
    """
    states = (task.state,) if task.state.settled else _UNSETTLED
    return Transition(name="stay_parent", guard=(equal("run", task.run), OneOf("state", states)))
