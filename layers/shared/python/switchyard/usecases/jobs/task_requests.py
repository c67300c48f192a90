"""Checks tasks wherever they come in: with a new job, or added to one."""

from collections.abc import Iterable, Mapping, Sequence

from switchyard.contracts.commitments import Commitment, same_names, too_many
from switchyard.contracts.definitions import RegisteredDefinition, TaskDefinition
from switchyard.domain.access.limits import Ceilings
from switchyard.domain.errors import Problem
from switchyard.domain.jobs.graph import TaskSpec
from switchyard.domain.jobs.plan import Pinned
from switchyard.domain.tasks.task import Json
from switchyard.ports import DefinitionStore


def named_definitions(
    tenant: str, specs: Iterable[TaskSpec], definitions: DefinitionStore
) -> Mapping[str, RegisteredDefinition]:
    """Read the latest version of each definition that a task names, if there is one."""
    return definitions.latest(tenant, sorted({spec.name for spec in specs if spec.name}))


def kinds_of(definitions: Mapping[str, TaskDefinition]) -> dict[str, str]:
    return {name: definition.kind for name, definition in definitions.items()}


def pinned(definitions: Mapping[str, RegisteredDefinition]) -> dict[str, Pinned]:
    """Fix the versions, for good."""
    return {name: definition.pin for name, definition in definitions.items()}


def checked_outputs(definitions: Mapping[str, RegisteredDefinition]) -> dict[str, Json]:
    """Return the schemas that outputs are held to, by the names of definitions."""
    return {name: definition.checked_output for name, definition in definitions.items()}


def ceiling_problems(
    specs: Sequence[TaskSpec],
    definitions: Mapping[str, RegisteredDefinition],
    ceilings: Ceilings,
) -> list[Problem]:
    """Find definitions that ask for more than the stage allows, at the first task of each."""
    first = {spec.name: index for index, spec in reversed(list(enumerate(specs)))}
    return [
        Problem(("tasks", first[name], "name"), f"definition {name!r}: {problem}")
        for name, definition in definitions.items()
        for problem in definition.problems_with(ceilings)
    ]


def commitment_problems(
    specs: Sequence[TaskSpec],
    definitions: Mapping[str, TaskDefinition],
    ceilings: Ceilings,
    *,
    nearby_allowed: bool = True,
) -> list[Problem]:
    """Find commitments of tasks that the stage does not allow, and tasks with too many of them,
    those of their definitions counted."""
    found: list[Problem] = []
    for index, spec in enumerate(specs):
        path = ("tasks", index, "commitments")
        own = tuple(map(Commitment.model_validate, spec.commitments))
        definition = definitions.get(spec.name)
        defined = (definition.commitments if definition else None) or ()
        problem = too_many(len(defined), len(own)) or (same_names((*defined, *own)) if own else "")
        found += [Problem(path, problem)] if problem else []
        for number, one in enumerate(own):
            at = (*path, number)
            found += one.problems_with(ceilings, at=at, nearby_allowed=nearby_allowed)
    return found
