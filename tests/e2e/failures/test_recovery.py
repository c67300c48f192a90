"""Something breaks in the middle of a job; after sweeps it settles, and the log says why."""

from collections.abc import Iterator

import pytest

from tests.e2e.conftest import RunningCloud
from tests.e2e.failures.broken_stage import Nudged, Stricken
from tests.e2e.failures.faults import (
    Fault,
    dispatcher_disabled,
    events_dropped,
    half_expanded,
    message_deleted,
    worker_killed,
)
from tests.e2e.failures.recovery import Recovery, recover
from tests.e2e.patience import eventually
from tests.e2e.workers import Workers

NOT_DISPATCHED = "completed, not dispatched"


@pytest.fixture(scope="module")
def harness(cloud: RunningCloud, workers: Workers) -> Iterator[Stricken]:
    harness = Stricken(cloud, workers)
    yield harness
    harness.worker()
    url = cloud.output("infrastructure", "TaskQueueUrl")
    eventually(lambda: cloud.messages(url) == (0, 0) or None, "messages are left")


def assert_completed(recovery: Recovery, *, attempts: int = 1) -> None:
    """Each task once, `b` in one attempt; `attempts` are those of `a`."""
    assert recovery.job.status == "completed"
    assert {t.task_id: t.attempt for t in recovery.job.tasks} == {"a": attempts, "b": 1}
    assert recovery.told_once, (recovery.completions, recovery.accepted)


@pytest.mark.long
def test_a_message_that_was_deleted_by_hand_is_sent_again(harness: Stricken) -> None:
    recovery = recover(harness, Fault("deleted", message_deleted))

    assert_completed(recovery)
    assert recovery.nudges == (Nudged("a", "resend", "queued, sent again 0 times"),)


def test_what_a_killed_worker_ran_is_run_by_another_once_its_lease_is_over(
    harness: Stricken,
) -> None:
    recovery = recover(harness, Fault("killed", worker_killed))

    assert_completed(recovery, attempts=2)
    [nudge] = recovery.nudges
    assert (nudge.what, nudge.action) == ("a", "wake")
    assert nudge.reason.startswith("the lease was over at ")


@pytest.mark.long
def test_events_that_were_dropped_are_emitted_again_and_followed(harness: Stricken) -> None:
    recovery = recover(harness, Fault("dropped", events_dropped))

    assert_completed(recovery)
    assert recovery.nudges == (
        Nudged("__start__", "dispatch", NOT_DISPATCHED),
        Nudged("a", "dispatch", NOT_DISPATCHED),
    )
    with harness.cloud.http as http:
        reported = http.get(f"/jobs/{recovery.job.job_id}/events", params={"limit": 100}).json()
    assert [e["eventType"] for e in reported["events"]].count("Job Created") == 1


@pytest.mark.long
def test_what_a_disabled_dispatcher_left_it_does_when_it_is_back(harness: Stricken) -> None:
    recovery = recover(harness, Fault("disabled", dispatcher_disabled))

    assert_completed(recovery)
    assert recovery.nudges == (Nudged("__start__", "dispatch", NOT_DISPATCHED),)


@pytest.mark.long
def test_a_half_expanded_job_is_written_to_its_end_and_run(harness: Stricken) -> None:
    recovery = recover(harness, Fault("half expanded", half_expanded))

    assert_completed(recovery)
    assert recovery.nudges == (Nudged("the job", "advance", "expand is not over"),)
