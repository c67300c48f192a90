"""A cloud that is up already says what its tasks cost, as one that starts does."""

from contextlib import ExitStack
from pathlib import Path
from unittest.mock import Mock

import pytest

from switchyard_local.cloud import LocalCloud
from switchyard_local.deployment.deployer import Deployer
from switchyard_local.endpoint import Deployment
from switchyard_local.say import Say
from switchyard_local.workers.pools import LocalPool
from switchyard_local.workers.process import WorkerProcess
from tests.unit.local.test_endpoint import DEPLOYMENT


@pytest.fixture
def cloud(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> LocalCloud:
    """One that is up, with a worker of today's code."""

    def unchanged(deployer: Deployer, say: Say, undo: ExitStack) -> Deployment:
        return DEPLOYMENT

    monkeypatch.setattr(Deployer, "bring_up", unchanged)
    monkeypatch.setattr(WorkerProcess, "pid", 7)
    monkeypatch.setattr(WorkerProcess, "serves", Mock(return_value=True))
    return LocalCloud(tmp_path, port=4580)


@pytest.mark.parametrize(
    ("environment", "agent"),
    [
        ({}, "the offline agent: its tasks cost nothing"),
        (
            {"ANTHROPIC_API_KEY": "x"},
            "Claude (ANTHROPIC_API_KEY is set): its tasks cost money",
        ),
    ],
)
def test_the_agent_of_the_running_worker_is_named(
    environment: dict[str, str],
    agent: str,
    cloud: LocalCloud,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    said: list[str] = []
    monkeypatch.setattr(cloud, "_pools", lambda: [LocalPool(environment)])
    assert cloud.up(said.append) == DEPLOYMENT.endpoint
    assert said == [f"The worker runs already, with {agent}"]
