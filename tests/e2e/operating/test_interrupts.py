"""Ctrl-C at any moment of a command leaves the running cloud as it was.

`make interrupts` tries twenty moments of each.
"""

from pathlib import Path

import psutil
import pytest

from switchyard_local.private_file import read_private
from tests.e2e.conftest import ROOT, RunningCloud
from tests.local.interruptions import begun, interrupted, moments
from tests.local.leftovers import left_below
from tests.local.test_run_suite import of_run

INTERRUPTED = 130
STARTED_SECONDS = 0.3
"""Before that, Python itself may not have come to the first line of ours."""
JOB = str(ROOT / "examples" / "pull-request-review.yaml")
COMMANDS = (
    ["jobs"],
    ["submit", JOB, "--watch"],
    ["events", "--follow"],
    ["metrics", "--watch"],
    ["doctor"],
)

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("moment", moments(3, first=STARTED_SECONDS))
@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: str(command[0]))
def test_an_interrupted_command_leaves_the_cloud_as_it_was(
    command: list[str], moment: float, cloud: RunningCloud, tmp_path: Path
) -> None:
    before = {file: read_private(file) for file in cloud.folder.glob("*.json")}
    place = {
        "SWITCHYARD_FOLDER": str(cloud.folder),
        "SWITCHYARD_PORT": str(cloud.endpoint.port),
    }
    with begun(["switchyard_cli", *command], place, tmp_path) as process:
        family = [psutil.Process(process.pid)]
        said = interrupted(process, moment)
    assert "Traceback" not in said
    assert process.returncode in {0, INTERRUPTED}, said
    assert of_run(family) == []
    assert left_below(tmp_path) == []
    assert {file: read_private(file) for file in before} == before
    with cloud.http as http:
        assert http.get("/jobs").json()["jobs"] is not None
