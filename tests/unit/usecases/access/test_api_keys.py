"""Keys: who is let in with them, and who no longer."""

import pytest

from switchyard.adapters.system import SystemIds
from switchyard.domain.access.api_keys import Caller
from switchyard.domain.errors import Rejected, Unavailable, UnknownKey
from switchyard.testing import ManualClock
from switchyard.testing.registry import MemoryApiKeys
from switchyard.usecases.access.api_keys import KeyRing, caller_with
from tests.builders import NOW_MS, TENANT

DAY_MS = 24 * 3600 * 1000


class KeyHarness:
    def __init__(self, keys: MemoryApiKeys | None = None) -> None:
        self.clock = ManualClock(NOW_MS)
        self.keys = keys or MemoryApiKeys()
        self.ring = KeyRing(keys=self.keys, ids=SystemIds(), clock=self.clock)

    def let_in(self, key: str) -> Caller | None:
        return caller_with(key, keys=self.keys, clock=self.clock)


def test_a_key_is_admitted_as_its_tenant_and_with_its_id() -> None:
    harness = KeyHarness()
    key = harness.ring.issue(TENANT, label="ci")
    (stored,) = harness.ring.all(TENANT)
    assert stored.label == "ci"
    assert harness.let_in(key) == Caller(TENANT, stored.key_id)


def test_a_revoked_key_opens_nothing_and_the_others_still_do() -> None:
    harness = KeyHarness()
    lost, stored = harness.ring.issue(TENANT), harness.ring.issue(TENANT)
    caller = harness.let_in(lost)
    assert caller is not None
    assert harness.ring.revoke(TENANT, caller.key_id).revoked_at_ms == NOW_MS
    assert harness.let_in(lost) is None
    assert harness.let_in(stored) is not None


def test_another_tenants_key_cannot_be_revoked() -> None:
    harness = KeyHarness()
    harness.ring.issue(TENANT)
    (stored,) = harness.ring.all(TENANT)
    with pytest.raises(UnknownKey):
        harness.ring.revoke("other", stored.key_id)


@pytest.mark.parametrize("label", ["", " ", "\x00", "x" * 101])
def test_a_label_that_says_nothing_or_too_much_is_refused(label: str) -> None:
    with pytest.raises(Rejected, match="1 to 100"):
        KeyHarness().ring.issue(TENANT, label=label)


@pytest.mark.parametrize("tenant", ["", "Acme", "a#b", "-a"])
def test_a_name_that_no_tenant_can_have_touches_no_key(tenant: str) -> None:
    ring = KeyHarness().ring
    for act in (ring.issue, ring.all, lambda name: ring.revoke(name, "0123456789ab")):
        with pytest.raises(Rejected, match="1 to 63"):
            act(tenant)


def test_the_day_a_key_was_last_used_is_noted_once_a_day() -> None:
    keys = Noting()
    harness = KeyHarness(keys)
    key = harness.ring.issue(TENANT)
    for _ in range(2):
        harness.let_in(key)
    harness.clock.advance(DAY_MS / 1000)
    harness.let_in(key)
    assert keys.noted == ["2027-01-15", "2027-01-16"]


def test_a_request_is_admitted_though_the_day_of_use_cannot_be_stored() -> None:
    harness = KeyHarness(Unwritable())
    assert harness.let_in(harness.ring.issue(TENANT)) is not None


class Noting(MemoryApiKeys):
    def __init__(self) -> None:
        super().__init__()
        self.noted: list[str] = []

    def note_use(self, tenant: str, key_hash: str, *, day: str) -> None:
        self.noted.append(day)
        super().note_use(tenant, key_hash, day=day)


class Unwritable(MemoryApiKeys):
    def note_use(self, tenant: str, key_hash: str, *, day: str) -> None:
        raise Unavailable("throttled")
