"""What a crash left behind is found by the deployed sweeper."""

from switchyard.adapters.system import SystemClock
from switchyard.contracts.jobs import JobView
from tests.e2e.conftest import RunningCloud
from tests.e2e.documents import a_job


def test_a_job_whose_event_was_lost_still_completes(swept_job: JobView) -> None:
    assert swept_job.status == "completed"
    assert {t.task_id: t.attempt for t in swept_job.tasks} == {"a": 1, "b": 1}


def test_what_was_dispatched_again_is_due_no_more_and_changed_nothing(
    cloud: RunningCloud,
) -> None:
    job_id = cloud.submit(a_job({"taskId": "a"}, {"taskId": "b", "dependsOn": ["a"]}))
    before = cloud.settled(job_id)
    cloud.make_overdue(job_id, "a")
    cloud.sweep()
    clock = SystemClock()
    deadline = (
        clock.monotonic() + 10
    )  # the scheduled sweep may have been faster, and still be at it
    while is_due(cloud, job_id, "a"):
        assert clock.monotonic() < deadline
        clock.sleep(0.1)
    assert cloud.settled(job_id) == before


def is_due(cloud: RunningCloud, job_id: str, task_id: str) -> bool:
    table = cloud.table(cloud.output("infrastructure", "StateTableName"))
    key = {"PK": f"TENANT#local#JOB#{job_id}", "SK": f"TASK#{task_id}"}
    return "due_at_ms" in table.get_item(Key=key, ConsistentRead=True)["Item"]
