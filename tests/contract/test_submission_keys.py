"""What every keeper of idempotency keys promises."""

from switchyard.ports import KeyTaken
from tests.builders import JOB_ID, NOW_MS, TENANT
from tests.contract.conftest import Backend

KEY = 'order-7/retry?of="monday"'
ANOTHER_JOB = JOB_ID.replace("1", "2")
DAY_MS = 24 * 3600 * 1000
FIRST = KeyTaken(job_id=JOB_ID, body_hash="abc", created_at_ms=NOW_MS)


def take(
    backend: Backend, job_id: str, *, said: str = "abc", tenant: str = TENANT, at: int = 0
) -> KeyTaken:
    return backend.submission_keys.take(
        tenant, KEY, job_id=job_id, body_hash=said, now_ms=NOW_MS + at
    )


def test_who_comes_first_has_the_key(backend: Backend) -> None:
    assert take(backend, JOB_ID) == FIRST


def test_who_comes_later_is_told_who_was_first_and_what_it_said(backend: Backend) -> None:
    take(backend, JOB_ID)
    assert take(backend, ANOTHER_JOB, said="xyz", at=5) == FIRST
    assert take(backend, ANOTHER_JOB, said="abc", at=DAY_MS - 1) == FIRST


def test_who_asks_again_for_the_same_job_still_has_it(backend: Backend) -> None:
    """The first answer may have been lost."""
    take(backend, JOB_ID)
    assert take(backend, JOB_ID, at=7) == FIRST


def test_after_a_day_a_key_is_free_whether_or_not_the_table_has_forgotten_it(
    backend: Backend,
) -> None:
    take(backend, JOB_ID)
    later = KeyTaken(job_id=ANOTHER_JOB, body_hash="xyz", created_at_ms=NOW_MS + DAY_MS)
    assert take(backend, ANOTHER_JOB, said="xyz", at=DAY_MS) == later
    assert take(backend, JOB_ID, at=DAY_MS + 1) == later


def test_tenants_do_not_share_keys(backend: Backend) -> None:
    take(backend, JOB_ID)
    assert take(backend, ANOTHER_JOB, tenant="acme-two").job_id == ANOTHER_JOB
