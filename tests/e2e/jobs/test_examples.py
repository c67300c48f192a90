"""The examples with code run on the local cloud: real workers, files in the bucket, an approval."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import pytest

from switchyard.client import Client, Job
from switchyard_cli.actions.functions import described
from switchyard_cli.files.job_file import SourcedJob, read_job
from tests.e2e.conftest import ROOT, RunningCloud
from tests.e2e.patience import eventually

NAMES = ("support-triage", "repository-audit")


@pytest.fixture(scope="module")
def jobs(cloud: RunningCloud) -> Iterator[dict[str, SourcedJob]]:
    """The examples by name, their functions served and all that they need registered."""
    found = {name: read_job(ROOT / "examples" / name / "job.yaml") for name in NAMES}
    places = [place for job in found.values() for place in job.beside().functions]
    cloud.local.up(print, functions=[str(place) for place in places])
    with Client(cloud.endpoint.api_url, cloud.endpoint.api_key) as client:
        for job in found.values():
            for name, definition in job.content.definitions.items():
                client.define(name, definition)
        for place in places:
            for name, definition in described(place).definitions.items():
                client.define(name, definition)
    yield found
    cloud.local.up(print, functions=[])
    for place in places:
        for module in [name for name in sys.modules if name.split(".")[0] == place.name]:
            del sys.modules[module]


def test_the_examples_with_code_run_to_their_end(
    cloud: RunningCloud, jobs: dict[str, SourcedJob], tmp_path: Path
) -> None:
    with Client(cloud.endpoint.api_url, cloud.endpoint.api_key) as client:
        ids = {
            name: client.submit(cast("Job", job.content), files=dict(job.beside().files)).job_id
            for name, job in jobs.items()
        }
        triage, audit = (ids[name] for name in NAMES)
        eventually(lambda: client.task(triage, "gate").status == "held" or None, "gate is not held")
        basis = client.decision(triage, "gate").basis
        client.decide(triage, "gate", approved=True, basis=basis)

        assert client.wait(audit, timeout_seconds=60).status == "completed"
        report = client.task(audit, "report")
        (file,) = [file for file in report.files if file.name.endswith("report.md")]
        assert "5 files were reviewed." in client.save(file, tmp_path).read_text()

        assert client.wait(triage, timeout_seconds=60).status == "completed"
        sent = [
            client.task(triage, task).output["sent"] for task in ("send-routine", "send-urgent")
        ]
        assert min(sent) > 0
        assert sum(sent) == 8
