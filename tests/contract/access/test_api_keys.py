"""The contract of `ApiKeys`."""

import pytest

from switchyard.domain.access.api_keys import ApiKey
from switchyard.domain.errors import UnknownKey
from tests.builders import TENANT
from tests.contract.conftest import Backend

FIRST, SECOND = "a1" * 32, "b2" * 32


def add(backend: Backend, key_hash: str, label: str | None = None, *, at: int = 1) -> None:
    backend.keys.add(TENANT, key_hash, label=label, now_ms=at)


def test_a_key_is_known_to_its_tenant_alone(backend: Backend) -> None:
    add(backend, FIRST, "ci")
    assert backend.keys.find(TENANT, FIRST) == ApiKey(key_hash=FIRST, created_at_ms=1, label="ci")
    assert backend.keys.find("other", FIRST) is None
    assert backend.keys.find(TENANT, SECOND) is None


def test_a_tenants_keys_are_listed_the_oldest_first(backend: Backend) -> None:
    hashes = [f"{number:02d}" * 32 for number in range(9)]
    for age, key_hash in enumerate(hashes):
        add(backend, key_hash, at=100 - age)
    backend.keys.add("other", "cc" * 32, label=None, now_ms=1)
    assert [key.key_hash for key in backend.keys.all(TENANT)] == hashes[::-1]
    assert backend.keys.all("nobody") == ()


def test_a_revoked_key_stays_listed_and_the_first_time_counts(backend: Backend) -> None:
    add(backend, FIRST)
    add(backend, SECOND, at=2)
    revoked = backend.keys.revoke(TENANT, FIRST, now_ms=5)
    assert revoked == backend.keys.revoke(TENANT, FIRST, now_ms=6)
    assert [key.revoked_at_ms for key in backend.keys.all(TENANT)] == [5, None]
    assert backend.keys.find(TENANT, FIRST) == revoked


def test_a_key_that_is_not_there_cannot_be_revoked_or_used(backend: Backend) -> None:
    with pytest.raises(UnknownKey):
        backend.keys.revoke(TENANT, FIRST, now_ms=5)
    backend.keys.note_use(TENANT, FIRST, day="2027-01-15")
    assert backend.keys.find(TENANT, FIRST) is None


def test_the_last_day_of_use_is_stored(backend: Backend) -> None:
    add(backend, FIRST)
    for day in ("2027-01-15", "2027-01-16", "2027-01-14"):
        backend.keys.note_use(TENANT, FIRST, day=day)
    (key,) = backend.keys.all(TENANT)
    assert key.last_used_on == "2027-01-16"


def test_all_keys_of_all_tenants_can_be_read(backend: Backend) -> None:
    add(backend, FIRST, "ci")
    backend.keys.add("other", SECOND, label=None, now_ms=2)
    assert sorted(backend.keys.everyones(), key=lambda one: one[0]) == [
        (TENANT, ApiKey(key_hash=FIRST, created_at_ms=1, label="ci")),
        ("other", ApiKey(key_hash=SECOND, created_at_ms=2)),
    ]


def test_a_key_is_taken_over_with_its_history_and_deleted_where_it_was(backend: Backend) -> None:
    key = ApiKey(
        key_hash=FIRST, created_at_ms=1, label="ci", last_used_on="2027-01-15", revoked_at_ms=9
    )
    backend.keys.take_over(TENANT, key)
    assert backend.keys.find(TENANT, FIRST) == key
    for _ in range(2):
        backend.keys.delete(TENANT, FIRST)
    assert backend.keys.find(TENANT, FIRST) is None


@pytest.mark.parametrize(("here", "there"), [(None, 7), (5, None), (5, 7)])
def test_a_key_that_is_revoked_in_either_place_stays_revoked(
    backend: Backend, here: int | None, there: int | None
) -> None:
    add(backend, FIRST, "here")
    if here is not None:
        backend.keys.revoke(TENANT, FIRST, now_ms=here)
    elsewhere = ApiKey(key_hash=FIRST, created_at_ms=3, label="there", revoked_at_ms=there)

    backend.keys.take_over(TENANT, elsewhere)

    expected = ApiKey(key_hash=FIRST, created_at_ms=1, label="here", revoked_at_ms=here or there)
    assert backend.keys.find(TENANT, FIRST) == expected
