"""Workers beside the cloud's own: real processes, of which nothing is left."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from switchyard.domain.measuring.scaling import ScalingPolicy
from switchyard.ports import Clock
from switchyard_local.processes.process import find
from switchyard_local.processes.roster import Roster
from switchyard_local.workers.supervisor import Supervisor
from tests.e2e.conftest import RunningCloud


def running(folder: Path) -> set[str]:
    roster = Roster(folder / "processes.json")
    return {role for role in roster.roles() if find(roster.get(role))}


def test_those_beside_the_first_are_gone_when_supervision_ends(
    cloud: RunningCloud, monkeypatch: pytest.MonkeyPatch
) -> None:
    there: set[str] = set()

    def step_once(supervisors: Sequence[Supervisor], _clock: Clock) -> None:
        for supervisor in supervisors:
            supervisor.step()
        there.update(running(cloud.folder))
        raise KeyboardInterrupt

    monkeypatch.setattr("switchyard_local.cloud.run_all", step_once)
    said: list[str] = []
    cloud.local.supervise(ScalingPolicy(min_workers=2, max_workers=2), said.append)

    assert there == {"ministack", "worker", "worker-2", "worker-drones"}
    assert running(cloud.folder) == {"ministack", "worker", "worker-drones"}
    assert any(line.startswith("1 → 2 workers") for line in said)
