"""Ports for access to the API: who may call it, how often, and with how many open tasks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:  # a function's start need not load them
    from switchyard.domain.access.api_keys import ApiKey, Caller
    from switchyard.domain.access.limits import Admission, OpenJob, RequestLimits
    from switchyard.domain.access.tenants import TenantSettings
    from switchyard.domain.ids import JobRef


class ApiKeys(Protocol):
    """Stores the keys that may call the API: only their hashes; revoked ones stay."""

    def add(self, tenant: str, key_hash: str, *, label: str | None, now_ms: int) -> None: ...

    def find(self, tenant: str, key_hash: str) -> ApiKey | None:
        """Find a key, revoked or not."""

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


class RequestRates(Protocol):
    """Counts requests, one key at a time."""

    def take(self, caller: Caller, *, limits: RequestLimits, now_ms: int) -> Admission:
        """Count a request if it is within the limits, however many are made at once.

        What was refused is not counted, and what cannot be counted because there are too many is
        refused. Raise `Unavailable`: then it is unknown whether it was.
        """


class TenantStore(Protocol):
    def find(self, tenant: str) -> TenantSettings:
        """Return the tenant's settings; the defaults for a tenant that has none."""

    def change(
        self,
        tenant: str,
        *,
        slack_channels: tuple[str, ...] | None = None,
        slack_operators: tuple[str, ...] | None = None,
    ) -> TenantSettings:
        """Replace the lists that are given, and return the settings as they are then.

        Of two who change the same list at once, the later one's stays.
        """

    def all(self) -> Mapping[str, TenantSettings]:
        """Return the settings of every tenant that has any, by tenant, in order.

        A change of a moment ago may be missing from it.
        """


class OpenTasks(Protocol):
    """Counts jobs from before they are written until they have settled."""

    def of_tenant(self, tenant: str) -> Sequence[OpenJob]:
        """Return the tenant's counted jobs, by their ids. The read is consistent."""

    def note(self, ref: JobRef, *, run: int, tasks: int, now_ms: int) -> None:
        """Count the job with so many tasks.

        What arrives late changes nothing: a later run counts more than an earlier one, and within
        a run the larger number.
        """

    def close(self, ref: JobRef, *, run: int) -> None:
        """Count the job no more, unless it is counted for a later run."""
