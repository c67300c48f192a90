"""Signals to a worker mid-task, on the deployed system."""

import os
import signal
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest

from switchyard.adapters.system import SystemClock
from tests.e2e.conftest import RunningCloud
from tests.e2e.documents import a_job, scripted
from tests.e2e.patience import eventually
from tests.e2e.workers import LEASE_MS, Workers, until_gone

RESTLESS = Path(__file__).parent / "restless"
SHORT = scripted(delayMs=1500)
LONG = scripted(delayMs=10_000)
GRACE_SECONDS = 5
FIRST_FENCE = 3
"""The first claim's: the dispatcher made the task ready and queued it."""


@dataclass(frozen=True)
class Stopped:
    """A worker was asked to stop while it ran a short and a long task."""

    job_id: str
    family: list[psutil.Process]
    """What ran below it at that time."""
    sessions: set[int]
    messages: tuple[int, int]
    """Waiting and in flight, as soon as it had ended."""


def until_told(cloud: RunningCloud, job_id: str, task_id: str, event_type: str) -> None:
    """Wait until the log has such an event of the task."""

    def look() -> bool | None:
        return any(e["eventType"] == event_type for e in cloud.named_job(job_id, task_id)) or None

    eventually(look, f"{task_id}: no {event_type}")


def until_completed(cloud: RunningCloud, job_id: str, task_id: str) -> None:
    def look() -> bool | None:
        return cloud.control_item(job_id, task_id)["state"] == "COMPLETED" or None

    eventually(look, f"{task_id} is not completed")


def completions(cloud: RunningCloud, job_id: str, task_id: str) -> list[int]:
    """Return the fences of the events that were emitted."""
    reported = cloud.named_job(job_id, task_id)
    return [e["properties"]["fence"] for e in reported if e["eventType"] == "Task Completed"]


@pytest.fixture(scope="module")
def stopped(cloud: RunningCloud, workers: Workers) -> Stopped:
    job_id = cloud.submit(a_job({"taskId": "short", **SHORT}, {"taskId": "long", **LONG}))
    worker = workers.start(PYTHONPATH=str(RESTLESS), STOP_GRACE_SECONDS=str(GRACE_SECONDS))
    for task_id in ("short", "long"):
        until_told(cloud, job_id, task_id, "Task Processing Started")
    family = worker.descendants()
    sessions = {os.getsid(process.pid) for process in family}
    worker.signal(signal.SIGTERM)
    assert worker.exit_code() == 0, worker.log
    messages = cloud.messages(cloud.output("infrastructure", "TaskQueueUrl"))
    return Stopped(job_id, family, sessions, messages)


def test_a_stopped_worker_lets_a_short_task_finish(cloud: RunningCloud, stopped: Stopped) -> None:
    item = cloud.control_item(stopped.job_id, "short")
    assert (item["state"], item["attempt"]) == ("COMPLETED", 1)
    until_told(cloud, stopped.job_id, "short", "Task Completed")


def test_a_stopped_worker_hands_a_long_task_back(cloud: RunningCloud, stopped: Stopped) -> None:
    item = cloud.control_item(stopped.job_id, "long")
    assert (item["state"], item["attempt"]) == ("QUEUED", 0)
    assert "owner" not in item
    assert stopped.messages == (1, 0), "its message is not available at once"
    until_told(cloud, stopped.job_id, "long", "Task Released")


def test_a_stopped_worker_leaves_nothing_running(stopped: Stopped) -> None:
    assert len(stopped.family) >= 6, "each of two children has two companions"
    assert len(stopped.sessions) >= 6, "each of them in a session of its own"
    assert until_gone(stopped.family) == []


def test_what_was_handed_back_is_done_by_the_next_in_one_attempt(
    cloud: RunningCloud, stopped: Stopped, workers: Workers
) -> None:
    following = workers.start()
    assert cloud.settled(stopped.job_id).status == "completed"
    following.signal(signal.SIGTERM)
    assert following.exit_code() == 0, following.log
    item = cloud.control_item(stopped.job_id, "long")
    assert (item["attempt"], item["fence"]) == (1, FIRST_FENCE + 1)


@pytest.mark.long
def test_a_worker_that_was_frozen_for_two_leases_changes_nothing(
    cloud: RunningCloud, workers: Workers
) -> None:
    job_id = cloud.submit(a_job({"taskId": "a", **SHORT}))
    zombie = workers.start()
    until_told(cloud, job_id, "a", "Task Processing Started")
    zombie.signal(signal.SIGSTOP)
    frozen_at_ms = SystemClock().now_ms()
    workers.start()
    until_completed(cloud, job_id, "a")
    finished = cloud.control_item(job_id, "a")
    thawing_at_ms = frozen_at_ms + 2 * LEASE_MS
    eventually(lambda: SystemClock().now_ms() > thawing_at_ms or None, "time stands still")

    zombie.signal(signal.SIGCONT)
    eventually(lambda: "lease is lost" in zombie.log or None, f"nobody told it:\n{zombie.log}")
    zombie.signal(signal.SIGTERM)

    assert zombie.exit_code() == 0, zombie.log
    assert (finished["attempt"], finished["fence"]) == (2, FIRST_FENCE + 1)
    item = cloud.control_item(job_id, "a")
    assert {k: v for k, v in item.items() if not k.startswith("due_")} == {
        k: v for k, v in finished.items() if not k.startswith("due_")
    }
    assert cloud.settled(job_id).status == "completed"
    assert completions(cloud, job_id, "a") == [FIRST_FENCE + 1]
