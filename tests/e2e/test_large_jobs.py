"""A job too large to be written by who accepted it.

It stays behind unfinished: after everybody else, the cloud goes down with it.
"""

from typing import Any

from switchyard.adapters.system import SystemClock
from switchyard.contracts.jobs import JobView
from tests.e2e.conftest import RunningCloud
from tests.e2e.documents import a_job

WIDTH = 1_998
FIRST_TO_RUN = 20
PATIENCE_SECONDS = 240


def test_two_thousand_tasks_fan_out_and_in_and_the_first_of_them_run(cloud: RunningCloud) -> None:
    job_id = cloud.submit(fan(WIDTH))

    job = _with_completed(cloud, job_id, at_least=FIRST_TO_RUN)

    assert job.total_tasks == len(job.tasks) == WIDTH + 2
    after = {task.task_id: task.depends_on for task in job.tasks}
    assert {after[name] for name in _names(WIDTH)} == {("first",)}
    assert set(after["last"]) == set(_names(WIDTH))
    assert {task.attempt for task in job.tasks if task.status == "completed"} == {1}


def fan(width: int) -> dict[str, Any]:
    names = _names(width)
    return a_job(
        {"taskId": "first"},
        *({"taskId": name, "dependsOn": ["first"]} for name in names),
        {"taskId": "last", "dependsOn": names},
    )


def _names(width: int) -> list[str]:
    return [f"part-{number}" for number in range(width)]


def _with_completed(cloud: RunningCloud, job_id: str, *, at_least: int) -> JobView:
    clock = SystemClock()
    deadline = clock.monotonic() + PATIENCE_SECONDS
    with cloud.http as http:
        while True:
            view = http.get(f"/jobs/{job_id}").json()
            if view["progress"].get("completed", 0) >= at_least:
                return JobView.model_validate(view)
            assert clock.monotonic() < deadline, view["progress"]
            clock.sleep(2)  # an answer tells of all two thousand
