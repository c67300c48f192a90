"""The port that finds and deletes the items of a tenant."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from switchyard.domain.access.erasure import TenantItem


class TenantItems(Protocol):
    """Finds and deletes all items of a tenant, in every table."""

    def of_tenant(self, tenant: str) -> Iterator[TenantItem]:
        """API keys first, so that nothing new is accepted; no item of another tenant.

        Items may be deleted while the next ones are read.
        """

    def delete(self, items: Sequence[TenantItem]) -> None:
        """Whether they are there or not."""
