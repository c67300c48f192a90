"""The Python client on the deployed system, as its documentation shows it."""

import os
import re
import subprocess
import sys
from pathlib import Path

from switchyard.client import Client, Job
from switchyard.contracts.definitions import TaskDefinition
from switchyard.domain.prompts.artifacts import RESULT_FILE
from tests.e2e.conftest import ROOT, RunningCloud
from tests.e2e.documents import scripted
from tests.e2e.patience import eventually

EXAMPLE = re.compile(r"```python\n(.*?)```", re.DOTALL)


def test_the_example_of_the_documentation_runs(cloud: RunningCloud, tmp_path: Path) -> None:
    (example,) = EXAMPLE.findall((ROOT / "docs" / "client.md").read_text())
    reported = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": str(ROOT / "layers/shared/python"),
        "SWITCHYARD_API_URL": cloud.endpoint.api_url,
        "SWITCHYARD_API_KEY": cloud.endpoint.api_key,
    }

    ran = subprocess.run(
        [sys.executable, "-W", "error", "-c", example],
        env=reported, cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip

    assert ran.returncode == 0, ran.stderr
    *events, status, output = ran.stdout.splitlines()
    assert "Job Created" in events[0]
    assert any("Job Completed" in event for event in events)  # others may arrive after it
    assert status == "completed"
    assert output not in {"", "None"}


def test_a_job_is_changed_and_its_files_are_saved(cloud: RunningCloud, tmp_path: Path) -> None:
    job = Job("grown")
    first = job.task("first", name="client-task")
    job.task("held", name="client-task", **scripted(delayMs=120_000))  # the job stays open
    more = Job()
    more.task("second", name="client-task", after=[first], input={"of": first.output()})
    with Client(cloud.endpoint.api_url, cloud.endpoint.api_key) as client:
        client.define("client-task", TaskDefinition(tag="analyst", description="Say something."))
        job_id = client.submit(job, key="the-grown-job").job_id
        assert client.submit(job, key="the-grown-job").job_id == job_id
        client.add(job_id, more)
        eventually(
            lambda: client.task(job_id, "second").status == "completed" or None,
            "the added task does not end",
        )
        client.cancel_task(job_id, "held")

        done = client.wait(job_id, timeout_seconds=60)

        assert {task.task_id: task.status for task in done.tasks} == {
            "first": "completed",
            "held": "cancelled",
            "second": "completed",
        }
        assert job_id in {summary.job_id for summary in client.jobs(status="cancelled")}
        links = client.task(job_id, first).files
        saved = [client.save(link, tmp_path) for link in links]
    assert [path.stat().st_size for path in saved] == [link.size for link in links]
    assert tmp_path / RESULT_FILE in saved
