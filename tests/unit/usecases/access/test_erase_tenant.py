"""Erasing a tenant: everything of it, nothing of others, and again after a crash."""

import pytest

from switchyard.domain.access.erasure import TenantItem
from switchyard.domain.errors import Rejected, Unavailable
from switchyard.testing.tenants import MemoryTenantItems
from switchyard.testing.transport import MemoryBlobStore
from switchyard.usecases.access.erase_tenant import TenantEraser, TenantHasOpenJobs
from tests.builders import JOB_ID, TENANT
from tests.contract.access.test_tenant_items import ITEMS, OTHERS
from tests.fakes.triggers import nightly
from tests.unit.usecases.triggers.test_operate_triggers import OperatorHarness

OTHER_JOB = "job-00000000-0000-4000-8000-000000000099"
MINE = [
    f"task/logs/{JOB_ID}__a/1/artifacts/x",
    f"events/{JOB_ID}/e-payload.json",
    f"events/{JOB_ID}__a/e-payload.json",
    "task/logs/order-1/1/logs/x",
    f"task/documents/acme/{JOB_ID}.json",
    f"task/job-files/acme/{JOB_ID}.json",
    f"task/uploads/acme/{'0' * 64}",
    "quarantine/2027-01-15/m-1.json",
]
THEIRS = [
    f"task/logs/{OTHER_JOB}__a/1/artifacts/x",
    "task/logs/order-11/1/logs/x",
    "task/inputs/acme-inc/a.json",
    f"task/uploads/acme-inc/{'0' * 64}",
    "quarantine/2027-01-15/m-2.json",
]


class Erasure:
    def __init__(self) -> None:
        desk = OperatorHarness()
        desk.operator.apply(TENANT, nightly())
        self.rules, self.items, self.blobs = desk.rules, MemoryTenantItems(), MemoryBlobStore()
        self.items.items = [*ITEMS, *OTHERS]
        for key in [*MINE, *THEIRS]:
            tenant = "acme" if key in MINE else "acme-inc"
            body = f'{{"body": "{{\\"tenantId\\": \\"{tenant}\\"}}"}}'
            self.blobs.put(key, body.encode(), content_type="application/json")
        self.eraser = TenantEraser(items=self.items, blobs=self.blobs, triggers=desk.operator)


COUNTS = {
    "API keys": 1,
    "alerts": 2,
    "clocks": 1,
    "definitions": 1,
    "events": 1,
    "jobs": 1,
    "limits": 1,
    "objects in the bucket": 7,
    "parked messages": 1,
    "settings": 1,
    "tasks": 2,
    "triggers with their rules": 1,
    "work queues": 1,
}


def test_a_count_changes_nothing() -> None:
    erasure = Erasure()
    assert erasure.eraser.count(TENANT, lambda _: None) == COUNTS
    assert len(erasure.items.items) == len(ITEMS) + len(OTHERS)
    assert sorted(erasure.blobs.keys("")) == sorted([*MINE, *THEIRS])
    assert len(erasure.rules.rules) == 1


def test_everything_of_the_tenant_is_erased_and_nothing_of_another() -> None:
    erasure, seen = Erasure(), []
    assert erasure.eraser.erase(TENANT, lambda counts: seen.append(sum(counts.values()))) == COUNTS
    assert erasure.items.items == OTHERS
    assert sorted(erasure.blobs.keys("")) == sorted(THEIRS)
    assert erasure.rules.rules == {}
    assert seen == sorted(seen)
    assert erasure.eraser.count(TENANT, lambda _: None) == {}


def test_what_a_crash_left_is_erased_by_the_next_try(monkeypatch: pytest.MonkeyPatch) -> None:
    erasure = Erasure()

    def crash(_: object) -> None:
        raise Unavailable("gone")

    with monkeypatch.context() as patch:
        patch.setattr(erasure.items, "delete", crash)
        with pytest.raises(Unavailable):
            erasure.eraser.erase(TENANT, lambda _: None)
    assert erasure.eraser.erase(TENANT, lambda _: None)["jobs"] == 1
    assert erasure.items.items == OTHERS
    assert sorted(erasure.blobs.keys("")) == sorted(THEIRS)


def test_a_tenant_with_open_jobs_is_not_erased() -> None:
    erasure = Erasure()
    erasure.items.items.append(TenantItem("state", "TENANT#acme#OPEN", JOB_ID))
    with pytest.raises(TenantHasOpenJobs, match=r"acme has open jobs \(1\)") as refused:
        erasure.eraser.erase(TENANT, lambda _: None)
    assert refused.value.job_ids == (JOB_ID,)
    assert len(erasure.rules.rules) == 1
    assert erasure.eraser.count(TENANT, lambda _: None)["open jobs"] == 1


def test_what_is_no_name_of_a_tenant_is_refused() -> None:
    with pytest.raises(Rejected, match="tenant"):
        Erasure().eraser.erase("*", lambda _: None)
