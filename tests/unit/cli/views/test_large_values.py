"""Inputs and outputs that an answer has no room for."""

from pathlib import Path

from switchyard.contracts.jobs import JobAccepted
from tests.unit.cli.conftest import Switchyard
from tests.unit.cli.fakes.api import (
    CREATED,
    JOB_ID,
    TRACE_ID,
    FakeApi,
    a_job,
    a_task,
    a_task_view,
    answer,
)

DONE = a_task("only", "completed")
VIEW = a_task_view(
    DONE, input_location="s3://bucket/input.json", output_location="s3://bucket/output.json"
)


def test_a_task_tells_where_they_are(switchyard: Switchyard, api: FakeApi) -> None:
    api.on(f"GET /jobs/{JOB_ID}/tasks/only", answer(VIEW))

    reported = switchyard("task", f"{JOB_ID}__only").stdout

    assert "input       s3://bucket/input.json\n" in reported
    assert "output      s3://bucket/output.json\n" in reported


def test_a_run_ends_with_where_its_result_is(
    switchyard: Switchyard, api: FakeApi, tmp_path: Path
) -> None:
    file = tmp_path / "job.yaml"
    file.write_text("tasks: [{taskId: only, name: scrape}]\n")
    accepted = JobAccepted(
        job_id=JOB_ID, total_tasks=1, root_tasks=("only",), created_at=CREATED, trace_id=TRACE_ID
    )
    api.on("POST /jobs", answer(accepted, 201))
    api.on(f"GET /jobs/{JOB_ID}", answer(a_job("completed", DONE)))
    api.on(f"GET /jobs/{JOB_ID}/tasks/only", answer(VIEW))

    reported = switchyard("run", file).stdout

    assert "too large to show: s3://bucket/output.json\n" in reported
    assert "null" not in reported
