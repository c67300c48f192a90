"""Registers a task definition under a name, as a new version when it says something new."""

from switchyard.contracts.definitions import RegisteredDefinition, TaskDefinition
from switchyard.domain.errors import InvalidDefinition, Problem
from switchyard.domain.ids import DEFINITION_NAME
from switchyard.ports import DefinitionStore


def put_definition(
    tenant: str, name: str, definition: TaskDefinition, *, definitions: DefinitionStore
) -> RegisteredDefinition:
    if not DEFINITION_NAME.fullmatch(name):
        raise InvalidDefinition([Problem(("name",), "must be 1 to 64 of a-z A-Z 0-9 - _")])
    return definitions.put(tenant, name, definition)
