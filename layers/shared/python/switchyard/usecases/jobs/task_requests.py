"""Checks tasks wherever they come in: with a new job, or added to one."""

from collections.abc import Iterable, Mapping, Sequence

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
    return {name: Pinned(d.version, d.retry.max_attempts) for name, d in definitions.items()}


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
