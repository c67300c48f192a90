"""A task in the words of a work queue."""

import pytest

from switchyard.domain.scheduling.work_items import Claim, ItemStatus, claim_of, item_status
from switchyard.domain.states import TaskState
from tests.builders import NOW_MS, a_task

S = TaskState


@pytest.mark.parametrize(
    ("state", "attempt", "status"),
    [
        (S.WAITING, 0, ItemStatus.PENDING),
        (S.READY, 0, ItemStatus.PENDING),
        (S.READY, 1, ItemStatus.FAILED),
        (S.QUEUED, 0, ItemStatus.PENDING),
        (S.QUEUED, 2, ItemStatus.FAILED),
        (S.PROCESSING, 1, ItemStatus.CLAIMED),
        (S.HELD, 0, ItemStatus.PENDING),
        (S.COMPLETED, 1, ItemStatus.COMPLETED),
        (S.FAILED, 3, ItemStatus.DEAD_LETTERED),
        (S.TIMED_OUT, 1, ItemStatus.DEAD_LETTERED),
        (S.SKIPPED, 0, None),
        (S.CANCELLED, 1, None),
        (S.NOT_COMPLETED, 0, None),
        (S.UNKNOWN, 0, None),
    ],
)
def test_every_state_has_its_word(
    state: TaskState, attempt: int, status: ItemStatus | None
) -> None:
    assert item_status(a_task(state=state, attempt=attempt)) == status


def test_a_running_task_is_claimed_until_its_lease_ends() -> None:
    task = a_task(
        state=S.PROCESSING, owner="w-1", started_at_ms=NOW_MS, lease_until_ms=NOW_MS + 60_000
    )
    assert claim_of(task) == Claim(
        claimed_by="w-1", claimed_at_ms=NOW_MS, visible_at_ms=NOW_MS + 60_000
    )


def test_a_retry_is_visible_after_its_pause() -> None:
    task = a_task(state=S.QUEUED, ready_at_ms=NOW_MS, not_before_ms=NOW_MS + 5_000)
    assert claim_of(task) == Claim(visible_at_ms=NOW_MS + 5_000)


def test_a_settled_task_is_claimed_by_nobody() -> None:
    assert claim_of(a_task(state=S.COMPLETED, owner="w-1", started_at_ms=NOW_MS)) == Claim()
