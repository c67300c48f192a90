"""Erases everything that is stored of a tenant, and counts it.

Each step may be repeated: after a crash, the same command erases what is left. The objects of a
job go before the items that name it, so that none is left without a trace of whose it was.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Final

from switchyard.domain.access.erasure import (
    TenantItem,
    entity_of,
    kind_of,
    names_tenant,
    prefixes_of_entity,
    prefixes_of_tenant,
)
from switchyard.domain.errors import Conflict, Rejected
from switchyard.domain.ids import TENANT_ID, TENANT_ID_RULE
from switchyard.ports import BlobStore
from switchyard.ports.erasure import TenantItems
from switchyard.usecases.triggers.operate_triggers import TriggerOperator

AT_ONCE: Final = 100
OBJECTS: Final = "objects in the bucket"
PARKED: Final = "parked messages"
RULES: Final = "triggers with their rules"
OPEN: Final = "open jobs"
_PARKED_BELOW: Final = ("quarantine/", "undeliverable/")

Progress = Callable[[Mapping[str, int]], None]


class TenantHasOpenJobs(Conflict):
    """The tenant's jobs must settle first: workers would store what they do after the erasure."""

    def __init__(self, tenant: str, job_ids: Sequence[str]) -> None:
        super().__init__(f"the tenant {tenant} has open jobs ({len(job_ids):,})")
        self.job_ids = tuple(job_ids)


@dataclass(frozen=True, kw_only=True)
class TenantEraser:
    items: TenantItems
    blobs: BlobStore
    triggers: TriggerOperator

    def count(self, tenant: str, progress: Progress) -> Mapping[str, int]:
        """Count what `erase` would delete, by kind; nothing is changed."""
        return _Run(self, _named(tenant), progress, dry=True).everything()

    def erase(self, tenant: str, progress: Progress) -> Mapping[str, int]:
        """Delete all of it; return how much, by kind. Raise `TenantHasOpenJobs`."""
        run = _Run(self, _named(tenant), progress, dry=False)
        run.refuse_open_jobs()
        return run.everything()


@dataclass
class _Run:
    eraser: TenantEraser
    tenant: str
    progress: Progress
    dry: bool
    counts: Counter[str] = field(default_factory=Counter)
    _seen: set[str] = field(default_factory=set)

    def refuse_open_jobs(self) -> None:
        items = self.eraser.items.of_tenant(self.tenant)
        jobs = sorted(item.sort for item in items if kind_of(item) == OPEN)
        if jobs:
            raise TenantHasOpenJobs(self.tenant, jobs)

    def everything(self) -> Mapping[str, int]:
        self._triggers()
        found = self.eraser.items.of_tenant(self.tenant)
        while items := tuple(islice(found, AT_ONCE)):
            for entity in filter(None, map(entity_of, items)):
                self._entity(entity)
            self._items(items)
        for prefix in prefixes_of_tenant(self.tenant):
            self._objects(prefix)
        self._parked()
        return dict(sorted(self.counts.items()))

    def _triggers(self) -> None:
        """Remove their rules, which no table names, before the triggers themselves."""
        for applied in self.eraser.triggers.all(self.tenant):
            self._count(RULES, 1)
            if not self.dry:
                self.eraser.triggers.remove(self.tenant, applied.trigger.name)

    def _items(self, items: tuple[TenantItem, ...]) -> None:
        if not self.dry:
            self.eraser.items.delete(items)
        for kind, number in Counter(map(kind_of, items)).items():
            self._count(kind, number)

    def _entity(self, entity: str) -> None:
        if entity in self._seen:
            return
        self._seen.add(entity)
        for prefix in prefixes_of_entity(entity):
            self._objects(prefix)

    def _objects(self, prefix: str) -> None:
        self._delete(OBJECTS, list(self.eraser.blobs.keys(prefix)))

    def _parked(self) -> None:
        self._delete(PARKED, list(self._parked_keys()))

    def _parked_keys(self) -> Iterator[str]:
        for prefix in _PARKED_BELOW:
            for key in self.eraser.blobs.keys(prefix):
                text = self.eraser.blobs.get(key).decode(errors="replace")
                if names_tenant(text, self.tenant):
                    yield key

    def _delete(self, kind: str, keys: list[str]) -> None:
        for key in keys:
            if not self.dry:
                self.eraser.blobs.delete(key)
        if keys:
            self._count(kind, len(keys))

    def _count(self, kind: str, number: int) -> None:
        self.counts[kind] += number
        self.progress(self.counts)


def _named(tenant: str) -> str:
    if not TENANT_ID.fullmatch(tenant):
        raise Rejected(f"tenant {tenant!r} must be {TENANT_ID_RULE}")
    return tenant
