"""Taking an idempotency key over from a job that was never opened, and can then not be opened."""

from dataclasses import replace

import pytest

from switchyard.domain.errors import Conflict
from switchyard.domain.jobs.submission_keys import KeyKind
from switchyard.domain.states import JobState
from switchyard.ports import KeyTaken
from tests.builders import JOB, JOB_ID, NOW_MS, TENANT, a_plan
from tests.contract.conftest import Backend

KEY = "uploads/17793124-05d4"
PLAN = a_plan()
WITH_A_DOCUMENT = replace(PLAN.job, document_key="task/documents/acme/it.json")
FIRST = KeyTaken(job_id=JOB_ID, body_hash="abc", created_at_ms=NOW_MS)
SECOND, THIRD = (
    replace(FIRST, job_id=JOB_ID.replace("1", str(number)), body_hash="xyz", created_at_ms=at_ms)
    for number, at_ms in ((2, NOW_MS + 5), (3, NOW_MS + 9))
)


def take(backend: Backend) -> KeyTaken:
    return backend.submission_keys.take(TENANT, KEY, FIRST, kind=KeyKind.TRIGGER)


def take_over(backend: Backend, taken: KeyTaken = SECOND) -> KeyTaken:
    return backend.submission_keys.take_over(
        TENANT, KEY, taken, instead_of=JOB_ID, kind=KeyKind.TRIGGER
    )


def found(backend: Backend) -> KeyTaken | None:
    return backend.submission_keys.find(TENANT, KEY, now_ms=NOW_MS, kind=KeyKind.TRIGGER)


@pytest.mark.parametrize("begun", [False, True])
def test_a_job_that_nobody_has_opened_gives_its_key_up_and_is_never_opened(
    backend: Backend, *, begun: bool
) -> None:
    take(backend)
    if begun:
        backend.intake.write(PLAN)
    assert take_over(backend) == SECOND == found(backend)
    with pytest.raises(Conflict):
        backend.intake.write(PLAN)
    with pytest.raises(Conflict):
        backend.intake.open(PLAN, now_ms=NOW_MS)
    with pytest.raises(Conflict):
        backend.intake.accept(WITH_A_DOCUMENT)
    job = backend.jobs.find(JOB)
    assert job is not None
    assert job.state is JobState.WRITING
    assert job.due_at_ms == (PLAN.job.due_at_ms if begun else None)


@pytest.mark.parametrize("how", ["open", "settled", "left to the dispatcher"])
def test_a_job_that_may_run_keeps_its_key(backend: Backend, how: str) -> None:
    take(backend)
    if how == "left to the dispatcher":
        backend.intake.accept(WITH_A_DOCUMENT)
    else:
        backend.intake.write(PLAN)
        backend.intake.open(PLAN, now_ms=NOW_MS)
    before = backend.jobs.find(JOB)
    assert before is not None
    if how == "settled":
        before = backend.jobs.settle(before, JobState.COMPLETED, now_ms=NOW_MS)
    assert take_over(backend) == FIRST == found(backend)
    assert backend.jobs.find(JOB) == before


def test_the_second_of_two_takeovers_is_refused_with_the_first(backend: Backend) -> None:
    take(backend)
    take_over(backend)
    assert take_over(backend, THIRD) == SECOND == found(backend)


def test_what_is_taken_over_lives_anew(backend: Backend) -> None:
    take(backend)
    take_over(backend)
    end = SECOND.created_at_ms + KeyKind.TRIGGER.life_ms
    last = backend.submission_keys.find(TENANT, KEY, now_ms=end - 1, kind=KeyKind.TRIGGER)
    assert last == SECOND
    assert backend.submission_keys.find(TENANT, KEY, now_ms=end, kind=KeyKind.TRIGGER) is None
