"""A local cloud whose tasks the container does: its own worker is stopped."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from switchyard_local.cloud import LocalCloud
from switchyard_local.deployment.deployed import read_outputs, worker_container
from switchyard_local.emulator.gateway import Gateway
from switchyard_local.environments import aws_environment
from switchyard_local.home import Home
from switchyard_local.processes.process import identified, stop
from switchyard_local.workers.environment import container_environment
from tests.e2e.conftest import RunningCloud, free_port

SHORT_POLL = {"WAIT_TIME_SECONDS": "1"}
"""A worker's last poll may outlive it, and hide a message from the next worker meanwhile."""
STOP_SECONDS = 60.0


@contextmanager
def cloud_without_worker(folder: Path) -> Iterator[RunningCloud]:
    local = LocalCloud(folder, port=free_port(), extra_environment=SHORT_POLL)
    try:
        cloud = RunningCloud(local.up(_quietly), folder, folder / "calls.jsonl", local)
        worker = local.status().worker_pid
        if worker is not None:
            stop(identified(worker), grace_seconds=STOP_SECONDS)
        yield cloud
    finally:
        local.down(_quietly)


def deployed_environment(cloud: RunningCloud) -> dict[str, str]:
    """Return the variables of the deployed task definition, and how AWS is reached here."""
    port = cloud.endpoint.port
    outputs = read_outputs(Home(cloud.folder).outputs_file)
    container = worker_container(Gateway(port), outputs.worker_task_definition)
    return {**container_environment(container, {}), **aws_environment(port), **SHORT_POLL}


def _quietly(line: str) -> None:
    """The check prints its own lines."""
