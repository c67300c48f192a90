"""Definitions and API keys, in memory."""

import threading
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from switchyard.contracts.definitions import RegisteredDefinition, TaskDefinition
from switchyard.domain.access.api_keys import ApiKey, key_id
from switchyard.domain.errors import UnknownDefinition, UnknownKey


class MemoryDefinitionStore:
    def __init__(self) -> None:
        self._versions: dict[tuple[str, str], list[RegisteredDefinition]] = {}
        self._deleted: set[tuple[str, str]] = set()

    def put(self, tenant: str, name: str, definition: TaskDefinition) -> RegisteredDefinition:
        versions = self._versions.setdefault((tenant, name), [])
        known = versions and (tenant, name) not in self._deleted
        if not known or not versions[-1].says(definition):
            versions.append(
                RegisteredDefinition(
                    **definition.model_dump(), name=name, version=len(versions) + 1
                )
            )
        self._deleted.discard((tenant, name))
        return versions[-1]

    def latest(self, tenant: str, names: Iterable[str]) -> Mapping[str, RegisteredDefinition]:
        wanted = set(names)
        return {found.name: found for found in self.all(tenant) if found.name in wanted}

    def version(self, tenant: str, name: str, version: int) -> RegisteredDefinition:
        versions = self._versions.get((tenant, name), [])
        if not 1 <= version <= len(versions):
            raise UnknownDefinition(f"{name} version {version}")
        return versions[version - 1]

    def all(self, tenant: str, *, after: str | None = None) -> Iterator[RegisteredDefinition]:
        mine = {
            name: stored[-1]
            for (owner, name), stored in self._versions.items()
            if owner == tenant and (owner, name) not in self._deleted
        }
        return iter([mine[name] for name in sorted(mine) if after is None or name > after])

    def delete(self, tenant: str, name: str, *, now_ms: int) -> RegisteredDefinition:  # noqa: ARG002
        found = self.latest(tenant, [name]).get(name)
        if found is None:
            raise UnknownDefinition(name)
        self._deleted.add((tenant, name))
        return found


class MemoryApiKeys:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._keys: dict[tuple[str, str], ApiKey] = {}

    def add(self, tenant: str, key_hash: str, *, label: str | None, now_ms: int) -> None:
        key = ApiKey(key_hash=key_hash, created_at_ms=now_ms, label=label)
        self._keys.setdefault((tenant, key_hash), key)

    def find(self, tenant: str, key_hash: str) -> ApiKey | None:
        return self._keys.get((tenant, key_hash))

    def all(self, tenant: str) -> tuple[ApiKey, ...]:
        mine = [key for (owner, _), key in self._keys.items() if owner == tenant]
        return tuple(sorted(mine, key=lambda key: key.created_at_ms))

    def everyones(self) -> Iterator[tuple[str, ApiKey]]:
        return iter([(tenant, key) for (tenant, _), key in self._keys.items()])

    def take_over(self, tenant: str, key: ApiKey) -> None:
        with self._lock:
            there = self._keys.setdefault((tenant, key.key_hash), key)
        if there.revoked_at_ms is None and key.revoked_at_ms is not None:
            self.revoke(tenant, key.key_hash, now_ms=key.revoked_at_ms)

    def delete(self, tenant: str, key_hash: str) -> None:
        self._keys.pop((tenant, key_hash), None)

    def revoke(self, tenant: str, key_hash: str, *, now_ms: int) -> ApiKey:
        with self._lock:
            key = self._keys.get((tenant, key_hash))
            if key is None:
                raise UnknownKey(tenant, key_id(key_hash))
            if key.revoked_at_ms is None:
                key = replace(key, revoked_at_ms=now_ms)
                self._keys[tenant, key_hash] = key
            return key

    def note_use(self, tenant: str, key_hash: str, *, day: str) -> None:
        with self._lock:
            key = self._keys.get((tenant, key_hash))
            if key is not None and (key.last_used_on is None or key.last_used_on < day):
                self._keys[tenant, key_hash] = replace(key, last_used_on=day)
