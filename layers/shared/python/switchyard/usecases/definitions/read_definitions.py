"""Reads task definitions for their producers."""

from typing import Final

from switchyard.contracts.definitions import DefinitionList, RegisteredDefinition
from switchyard.domain.errors import Rejected, UnknownDefinition
from switchyard.domain.ids import DEFINITION_NAME
from switchyard.ports import DefinitionStore
from switchyard.usecases.jobs.read_jobs import MAX_ANSWER_BYTES, bytes_in_answer

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
    """Return one version, even of a deleted definition. Raise `UnknownDefinition`."""
    if not DEFINITION_NAME.fullmatch(name) or not 1 <= version <= MAX_VERSION:
        raise UnknownDefinition(name)
    return definitions.version(tenant, name, version)


def list_definitions(
    tenant: str, *, cursor: str | None, definitions: DefinitionStore
) -> DefinitionList:
    """The latest of each, by name: as many as an answer holds, and from where to go on."""
    if cursor is not None and not DEFINITION_NAME.fullmatch(cursor):
        raise Rejected("cursor: not one that a listing returned")
    page: list[RegisteredDefinition] = []
    room = MAX_ANSWER_BYTES
    for definition in definitions.all(tenant, after=cursor):
        room -= bytes_in_answer(definition.model_dump(mode="json", by_alias=True)) + 1  # a comma
        if page and room < 0:
            return DefinitionList(definitions=tuple(page), cursor=page[-1].name)
        page.append(definition)
    return DefinitionList(definitions=tuple(page))
