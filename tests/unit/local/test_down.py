"""Whatever happens while the worker is being stopped, MiniStack is stopped as well."""

from pathlib import Path

import pytest

from switchyard_local.cloud import LocalCloud
from switchyard_local.deployment.deployer import Deployer
from switchyard_local.say import Say
from switchyard_local.workers.process import WorkerProcess


@pytest.mark.parametrize("failure", [KeyboardInterrupt(), OSError(28, "No space left on device")])
def test_a_failure_to_stop_the_worker_leaves_nothing_else_running(
    failure: BaseException, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken_down = []

    def fail(worker: WorkerProcess, say: Say) -> None:
        raise failure

    def take_down(deployer: Deployer, say: Say) -> None:
        taken_down.append(deployer)

    monkeypatch.setattr(WorkerProcess, "stop", fail)
    monkeypatch.setattr(Deployer, "take_down", take_down)

    with pytest.raises(type(failure)):
        LocalCloud(tmp_path, port=4580).down(print)

    assert len(taken_down) == 1
