from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.contract.clouds import Cloud, on_ministack
from tests.worker.clock_stage import ClockStage, a_stage
from tests.worker.harness import WorkerHarness
from tests.worker.proxied import SharedProxy, shared_proxy


@pytest.fixture
def harness(tmp_path: Path) -> WorkerHarness:
    return WorkerHarness(tmp_path / "output")


@pytest.fixture(scope="session")
def workers_cloud(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cloud]:
    with on_ministack(tmp_path_factory.mktemp("cloud")) as cloud:
        yield cloud


@pytest.fixture
def stage(workers_cloud: Cloud, tmp_path: Path) -> Iterator[ClockStage]:
    with a_stage(workers_cloud, tmp_path) as stage:
        yield stage


@pytest.fixture(scope="module")
def claude_proxy() -> Iterator[SharedProxy]:
    pytest.importorskip("h11")
    with shared_proxy() as shared:
        yield shared
