"""A worker dies at any point of a task, and another one finishes it: real SIGKILLs, real stacks.

Each point has a task. Workers with one slot each are started one after the other, and each dies of
the first task whose point nobody has died at yet. The last one has no kill points.
"""

import signal
from pathlib import Path

import pytest

from tests.e2e.conftest import RunningCloud, chosen_values
from tests.e2e.documents import a_job, scripted
from tests.e2e.patience import eventually
from tests.e2e.workers import Workers

KILL_POINTS = Path(__file__).parent / "kill_points"
ATTEMPTS = {
    "receive": 1,
    "claim": 2,
    "spawn": 2,
    "beat": 2,
    "exit": 2,
    "upload": 2,
    "settle": 1,
    "emit": 1,
    "delete": 1,
}
"""By point: who dies before the claim or after the settlement costs no further attempt."""
POINTS = [
    pytest.param(point, marks=() if point in {"claim", "upload"} else pytest.mark.long)
    for point in ATTEMPTS
]
FENCES = {point: 2 + attempts for point, attempts in ATTEMPTS.items()}
"""The dispatcher made it ready and queued it; every claim counts one more."""
LONGER_THAN_A_BEAT = scripted(delayMs=1500)


@pytest.fixture(scope="module")
def killed_at(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("killed-at")


@pytest.fixture(scope="module")
def points(request: pytest.FixtureRequest) -> list[str]:
    """Return the points that the chosen tests ask about, with `delete` first."""
    chosen = sorted(set(map(str, chosen_values(request, "point"))))
    return sorted(chosen, key=lambda point: point != "delete")


@pytest.fixture(scope="module")
def jobs(
    cloud: RunningCloud, workers: Workers, killed_at: Path, points: list[str]
) -> dict[str, str]:
    """The job of each point, when its last message is gone and its last event is saved."""

    def run(*together: str) -> dict[str, str]:
        delays = {"beat": LONGER_THAN_A_BEAT}
        job_id = cloud.submit(a_job(*({"taskId": p, **delays.get(p, {})} for p in together)))
        for _ in together:
            doomed = workers.start(
                PYTHONPATH=str(KILL_POINTS), KILLED_AT=str(killed_at), MAX_CONCURRENT_CLAUDE="1"
            )
            assert doomed.exit_code() == -signal.SIGKILL, doomed.log
        return dict.fromkeys(together, job_id)

    # A slot is free before its message is deleted: who dies then must hold no other task.
    alone = [point for point in points if point == "delete"]
    jobs = {**(run(*alone) if alone else {}), **run(*points[len(alone) :])}
    survivor = workers.start()
    for job_id in jobs.values():
        cloud.settled(job_id)
    for queue in ("switchyard-local-task-queue", "switchyard-local-event-queue"):
        url = cloud.client("sqs").get_queue_url(QueueName=queue)["QueueUrl"]
        eventually(
            lambda url=url: cloud.messages(url) == (0, 0) or None,  # type: ignore[misc]
            f"{queue} is not drained:\n{survivor.log}",
        )
    return jobs


@pytest.mark.usefixtures("jobs")
@pytest.mark.parametrize("point", POINTS)
def test_a_worker_was_killed_there(killed_at: Path, point: str) -> None:
    assert (killed_at / point).exists()


@pytest.mark.parametrize("point", POINTS)
def test_a_task_whose_worker_was_killed_is_completed_once(
    cloud: RunningCloud, jobs: dict[str, str], point: str
) -> None:
    item = cloud.control_item(jobs[point], point)
    assert (item["state"], item["attempt"]) == ("COMPLETED", ATTEMPTS[point])
    assert item["fence"] == FENCES[point]


@pytest.mark.parametrize("point", POINTS)
def test_its_completion_is_in_the_log_once(
    cloud: RunningCloud, jobs: dict[str, str], point: str
) -> None:
    reported = [
        e for e in cloud.named_job(jobs[point], point) if e["eventType"] == "Task Completed"
    ]
    assert [event["properties"]["fence"] for event in reported] == [FENCES[point]]


@pytest.mark.parametrize("point", POINTS)
def test_its_result_is_that_of_the_attempt_that_counts(
    cloud: RunningCloud, jobs: dict[str, str], point: str
) -> None:
    task = cloud.task(jobs[point], point)
    assert task.artifacts is not None
    assert task.artifacts.endswith(f"__{point}/{FENCES[point]}/")
    assert cloud.blob(task, "artifacts/task-result.json")
