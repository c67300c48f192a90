"""Registers a task definition under a name, as a new version when it says something new."""

from typing import Final

from switchyard.contracts.definitions import RegisteredDefinition, TaskDefinition
from switchyard.domain.access.limits import Ceilings
from switchyard.domain.errors import InvalidDefinition, Problem
from switchyard.domain.ids import DEFINITION_NAME, DEFINITION_NAME_RULE
from switchyard.ports import DefinitionStore

MAX_DEFINITION_BYTES: Final = 64_000


def put_definition(
    tenant: str,
    name: str,
    definition: TaskDefinition,
    *,
    definitions: DefinitionStore,
    ceilings: Ceilings,
) -> RegisteredDefinition:
    """Raise `InvalidDefinition`, also for what is above a ceiling of the stage."""
    return definitions.put(tenant, name, accepted_definition(name, definition, ceilings))


def accepted_definition(
    name: str, definition: TaskDefinition, ceilings: Ceilings
) -> TaskDefinition:
    """Return the definition as the stage registers it. Raise `InvalidDefinition`."""
    if not DEFINITION_NAME.fullmatch(name):
        raise InvalidDefinition([Problem(("name",), f"must be {DEFINITION_NAME_RULE}")])
    size = len(definition.model_dump_json(by_alias=True).encode())
    if size > MAX_DEFINITION_BYTES:
        most = f"at most {MAX_DEFINITION_BYTES:,} are accepted"
        raise InvalidDefinition([Problem((), f"the definition is {size:,} bytes; {most}")])
    if definition.kind == "agent" and "max_turns" not in definition.model_fields_set:
        definition = definition.model_copy(update={"max_turns": ceilings.turns(None)})
    problems = definition.problems_with(ceilings)
    if problems:
        raise InvalidDefinition(problems)
    return definition
