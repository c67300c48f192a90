"""Gathers what a task has committed to: its definition's commitments and its own."""

from typing import Any

from pydantic import ValidationError

from switchyard.contracts.commitments import Commitment, named, too_many
from switchyard.contracts.definitions import TaskDefinition
from switchyard.domain.errors import NewerVersion, Rejected
from switchyard.domain.tasks.task import Payload, Task


class TooManyCommitments(Rejected):
    """The task and its definition have more commitments than are checked."""


def promises(definition: TaskDefinition, payload: Payload, task: Task) -> dict[str, Any]:
    """Return the fields of an assignment that say what is checked, and what was missing before.

    Raise `TooManyCommitments`, or `NewerVersion` for one that this version cannot check: the task
    is left to a worker that can.
    """
    defined = definition.commitments or ()
    try:
        own = tuple(map(Commitment.model_validate, payload.commitments))
    except ValidationError as error:
        raise NewerVersion("a commitment of the task is of a newer version") from error
    problem = too_many(len(defined), len(own))
    if problem:
        raise TooManyCommitments(f"the task {problem}")
    commitments = named((*defined, *own))
    before = task.commitments
    return {
        "commitments": [one.stored() | {"name": name} for name, one in commitments.items()],
        "promised": [one.described() for one in commitments.values()],
        "missing": [
            {"name": one.name, "kind": one.kind, "reason": one.reason}
            for one in (before.missing if before else ())
        ],
    }
