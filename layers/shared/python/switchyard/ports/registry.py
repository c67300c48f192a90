"""What tenants have registered: definitions and keys."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Protocol

from switchyard.domain.access.api_keys import ApiKey

if TYPE_CHECKING:  # the authorizer needs keys alone
    from switchyard.contracts.definitions import RegisteredDefinition, TaskDefinition


class DefinitionStore(Protocol):
    """Versioned task definitions; a version never changes."""

    def put(self, tenant: str, name: str, definition: TaskDefinition) -> RegisteredDefinition:
        """A new version; the same content as the latest keeps its version. Raise `Conflict`.

        What was deleted is registered again, with the next number.
        """

    def latest(self, tenant: str, names: Iterable[str]) -> Mapping[str, RegisteredDefinition]:
        """Those of `names` that exist."""

    def version(self, tenant: str, name: str, version: int) -> RegisteredDefinition:
        """Of a deleted definition too. Raise `UnknownDefinition`."""

    def all(self, tenant: str, *, after: str | None = None) -> Iterator[RegisteredDefinition]:
        """The latest of each, by name, from the first one behind `after` on."""

    def delete(self, tenant: str, name: str, *, now_ms: int) -> RegisteredDefinition:
        """From now on it is neither listed nor the latest; return what was.

        Its versions stay: a job that pinned one in the same moment runs all the same. Raise
        `UnknownDefinition`, or `Conflict` when it was changed at the same time.
        """


class ApiKeys(Protocol):
    """Who may call the API. Only hashes are kept; what was revoked is kept too."""

    def add(self, tenant: str, key_hash: str, *, label: str | None, now_ms: int) -> None: ...

    def find(self, tenant: str, key_hash: str) -> ApiKey | None:
        """Revoked or not."""

    def all(self, tenant: str) -> tuple[ApiKey, ...]:
        """The oldest first."""

    def everyones(self) -> Iterator[tuple[str, ApiKey]]:
        """Yield the keys of all tenants, in no order. It reads everything there is."""

    def take_over(self, tenant: str, key: ApiKey) -> None:
        """Add a key with its history. Of one that is there, only a revocation is taken over."""

    def delete(self, tenant: str, key_hash: str) -> None:
        """Forget a key that was moved. One that is not there is deleted already."""

    def revoke(self, tenant: str, key_hash: str, *, now_ms: int) -> ApiKey:
        """The first time counts. Raise `UnknownKey`."""

    def note_use(self, tenant: str, key_hash: str, *, day: str) -> None:
        """The latest day counts. A key that is not there stays away."""
