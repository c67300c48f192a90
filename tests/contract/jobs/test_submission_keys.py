"""The contract of `SubmissionKeys`."""

from dataclasses import replace

import pytest

from switchyard.domain.jobs.plan import Pinned
from switchyard.domain.jobs.submission_keys import KeyKind
from switchyard.ports import KeyTaken
from tests.builders import JOB_ID, NOW_MS, TENANT, TRACEPARENT
from tests.contract.conftest import Backend

KEY = 'order-7/retry?of="monday"'
ANOTHER_JOB = JOB_ID.replace("1", "2")
DAY_MS = 24 * 3600 * 1000
FIRST = KeyTaken(job_id=JOB_ID, body_hash="abc", created_at_ms=NOW_MS)


def take(
    backend: Backend,
    job_id: str,
    *,
    said: str = "abc",
    tenant: str = TENANT,
    at: int = 0,
    kind: KeyKind = KeyKind.PRODUCER,
) -> KeyTaken:
    wanted = KeyTaken(job_id=job_id, body_hash=said, created_at_ms=NOW_MS + at)
    return backend.submission_keys.take(tenant, KEY, wanted, kind=kind)


def test_who_comes_first_has_the_key(backend: Backend) -> None:
    assert take(backend, JOB_ID) == FIRST


def test_a_later_request_gets_the_first_job_and_its_fingerprint(backend: Backend) -> None:
    take(backend, JOB_ID)
    assert take(backend, ANOTHER_JOB, said="xyz", at=5) == FIRST
    assert take(backend, ANOTHER_JOB, said="abc", at=DAY_MS - 1) == FIRST


def test_who_asks_again_for_the_same_job_still_has_it(backend: Backend) -> None:
    """The first answer may have been lost."""
    take(backend, JOB_ID)
    assert take(backend, JOB_ID, at=7) == FIRST


@pytest.mark.parametrize(("kind", "days"), [(KeyKind.PRODUCER, 1), (KeyKind.TRIGGER, 400)])
def test_after_its_life_a_key_is_free_whether_or_not_the_table_has_forgotten_it(
    backend: Backend, kind: KeyKind, days: int
) -> None:
    end = days * DAY_MS
    take(backend, JOB_ID, kind=kind)
    assert take(backend, ANOTHER_JOB, at=end - 1, kind=kind) == FIRST
    later = KeyTaken(job_id=ANOTHER_JOB, body_hash="xyz", created_at_ms=NOW_MS + end)
    assert take(backend, ANOTHER_JOB, said="xyz", at=end, kind=kind) == later
    assert take(backend, JOB_ID, at=end + 1, kind=kind) == later


def test_a_key_is_found_as_long_as_it_lives(backend: Backend) -> None:
    def find(at: int) -> KeyTaken | None:
        return backend.submission_keys.find(TENANT, KEY, now_ms=NOW_MS + at)

    assert find(0) is None
    take(backend, JOB_ID)
    assert find(DAY_MS - 1) == FIRST
    assert find(DAY_MS) is None
    assert backend.submission_keys.find(TENANT, KEY, now_ms=NOW_MS, kind=KeyKind.TRIGGER) is None


def test_the_definitions_are_those_of_who_was_first(backend: Backend) -> None:
    pins = [{"scrape": Pinned(version, 2), "read-it": Pinned(7)} for version in (1, 2)]
    for pinned in pins:
        taken = backend.submission_keys.take(TENANT, KEY, replace(FIRST, pinned=pinned))
        assert taken.pinned == pins[0]
    assert backend.submission_keys.find(TENANT, KEY, now_ms=NOW_MS) == taken


def test_the_trace_is_that_of_who_was_first_and_goes_with_the_key(backend: Backend) -> None:
    first = replace(FIRST, trace=TRACEPARENT)
    for taken in (first, replace(FIRST, trace=None)):
        assert backend.submission_keys.take(TENANT, KEY, taken) == first
    later = replace(FIRST, created_at_ms=NOW_MS + DAY_MS)
    assert backend.submission_keys.take(TENANT, KEY, later) == later


def test_kinds_do_not_share_keys(backend: Backend) -> None:
    take(backend, JOB_ID)
    assert take(backend, ANOTHER_JOB, kind=KeyKind.TRIGGER).job_id == ANOTHER_JOB
    assert take(backend, ANOTHER_JOB) == FIRST


def test_tenants_do_not_share_keys(backend: Backend) -> None:
    take(backend, JOB_ID)
    assert take(backend, ANOTHER_JOB, tenant="acme-two").job_id == ANOTHER_JOB
