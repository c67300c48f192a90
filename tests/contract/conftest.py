"""Every adapter of a port, for the same assertions: in memory, and boto3 against three clouds."""

from collections.abc import Iterator

import pytest

from tests.contract.backends import Backend, in_memory, in_the_cloud
from tests.contract.clouds import Cloud, on_ministack, on_moto, simulated_cloud
from tests.contract.on_demand import made_on_demand

__all__ = ["Backend"]


@pytest.fixture
def moto() -> Iterator[Cloud]:
    with on_moto() as cloud:
        yield cloud


@pytest.fixture(scope="session")
def ministack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cloud]:
    with on_ministack(tmp_path_factory.mktemp("ministack")) as cloud:
        yield cloud


@pytest.fixture
def simulated() -> Iterator[Cloud]:
    with simulated_cloud() as cloud:
        yield cloud


MOTO = pytest.param("moto", marks=pytest.mark.long)
"""A second emulator of the same services: what one refuses, the other may let pass."""


SIMULATED = pytest.param("simulated", marks=pytest.mark.long)
"""What `tests/simulation` runs on; every state of a task is tried on it anyway."""


@pytest.fixture(params=[MOTO, "ministack"])
def cloud(request: pytest.FixtureRequest) -> Cloud:
    chosen: Cloud = request.getfixturevalue(request.param)
    return chosen


@pytest.fixture(params=["memory", MOTO, "ministack", SIMULATED])
def backend(request: pytest.FixtureRequest) -> Backend:
    if request.param == "memory":
        return in_memory()
    return in_the_cloud(made_on_demand(request.getfixturevalue(request.param)))
