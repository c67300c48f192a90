"""Definitions and API keys, in memory."""

from collections.abc import Iterable, Mapping

from switchyard.contracts.definitions import RegisteredDefinition, TaskDefinition
from switchyard.domain.errors import UnknownDefinition


class MemoryDefinitionStore:
    def __init__(self) -> None:
        self._versions: dict[tuple[str, str], list[RegisteredDefinition]] = {}

    def put(self, tenant: str, name: str, definition: TaskDefinition) -> RegisteredDefinition:
        versions = self._versions.setdefault((tenant, name), [])
        if not versions or versions[-1].content != definition:
            versions.append(
                RegisteredDefinition(
                    **definition.model_dump(), name=name, version=len(versions) + 1
                )
            )
        return versions[-1]

    def latest(self, tenant: str, names: Iterable[str]) -> Mapping[str, RegisteredDefinition]:
        return {
            name: self._versions[tenant, name][-1]
            for name in names
            if (tenant, name) in self._versions
        }

    def version(self, tenant: str, name: str, version: int) -> RegisteredDefinition:
        versions = self._versions.get((tenant, name), [])
        if not 1 <= version <= len(versions):
            raise UnknownDefinition(f"{name} version {version}")
        return versions[version - 1]

    def all(self, tenant: str) -> tuple[RegisteredDefinition, ...]:
        mine = {name: kept[-1] for (owner, name), kept in self._versions.items() if owner == tenant}
        return tuple(mine[name] for name in sorted(mine))


class MemoryApiKeys:
    def __init__(self) -> None:
        self._hashes: set[tuple[str, str]] = set()

    def add(self, tenant: str, key_hash: str, *, now_ms: int) -> None:  # noqa: ARG002
        self._hashes.add((tenant, key_hash))

    def knows(self, tenant: str, key_hash: str) -> bool:
        return (tenant, key_hash) in self._hashes
