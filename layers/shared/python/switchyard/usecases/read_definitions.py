"""What producers may know of their task definitions."""

from typing import Final

from switchyard.contracts.definitions import RegisteredDefinition
from switchyard.domain.errors import UnknownDefinition
from switchyard.domain.ids import DEFINITION_NAME
from switchyard.ports import DefinitionStore

MAX_VERSION: Final = 99_999_999  # as many digits as a version's key has


def read_definition(
    tenant: str, name: str, *, definitions: DefinitionStore
) -> RegisteredDefinition:
    """The latest version. Raise `UnknownDefinition`."""
    known = DEFINITION_NAME.fullmatch(name)
    found = definitions.latest(tenant, [name]).get(name) if known else None
    if found is None:
        raise UnknownDefinition(name)
    return found


def read_version(
    tenant: str, name: str, version: int, *, definitions: DefinitionStore
) -> RegisteredDefinition:
    """Of a deleted definition too: jobs may still run by it. Raise `UnknownDefinition`."""
    if not DEFINITION_NAME.fullmatch(name) or not 1 <= version <= MAX_VERSION:
        raise UnknownDefinition(name)
    return definitions.version(tenant, name, version)
