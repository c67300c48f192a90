"""The local cloud as a whole: started while it runs, hurt, stopped, and started again."""

import psutil

from tests.e2e.conftest import RunningCloud
from tests.local.leftovers import left_below, processes_below


def test_it_heals_stops_and_keeps_its_data(cloud: RunningCloud) -> None:
    local, first = cloud.local, cloud.endpoint
    started = local.status()
    assert started.healthy
    assert any("-m switchyard_worker" in process for process in processes_below(cloud.folder))

    assert local.up(print) == first
    assert local.status() == started

    assert started.worker_pid is not None
    psutil.Process(started.worker_pid).kill()
    local.up(print)
    healed = local.status()
    assert healed.healthy
    assert healed.ministack_pid == started.ministack_pid

    local.down(print)
    assert not local.status().running
    assert left_below(cloud.folder) == []

    said: list[str] = []
    assert local.up(said.append) == first
    assert not any("Deploying" in line for line in said)
    assert local.status().healthy
