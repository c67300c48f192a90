"""What tenants have registered: definitions and keys."""

from collections.abc import Iterable, Mapping
from typing import Protocol

from switchyard.contracts.definitions import RegisteredDefinition, TaskDefinition


class DefinitionStore(Protocol):
    """Versioned task definitions; a version never changes."""

    def put(self, tenant: str, name: str, definition: TaskDefinition) -> RegisteredDefinition:
        """A new version; the same content as the latest keeps its version. Raise `Conflict`."""

    def latest(self, tenant: str, names: Iterable[str]) -> Mapping[str, RegisteredDefinition]:
        """Those of `names` that exist."""

    def version(self, tenant: str, name: str, version: int) -> RegisteredDefinition:
        """Raise `UnknownDefinition`."""

    def all(self, tenant: str) -> tuple[RegisteredDefinition, ...]:
        """The latest of each, by name."""


class ApiKeys(Protocol):
    """Who may call the API. Only hashes are kept."""

    def add(self, tenant: str, key_hash: str, *, now_ms: int) -> None: ...

    def knows(self, tenant: str, key_hash: str) -> bool: ...
