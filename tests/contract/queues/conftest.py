"""Every task queue, for the same assertions: in memory, and SQS in three clouds."""

import pytest

from tests.contract.conftest import MOTO, SIMULATED
from tests.contract.queues.backends import QueueBackend, queue_in_memory, queue_in_the_cloud


@pytest.fixture(params=["memory", MOTO, "ministack", SIMULATED])
def backend(request: pytest.FixtureRequest) -> QueueBackend:
    if request.param == "memory":
        return queue_in_memory()
    return queue_in_the_cloud(request.getfixturevalue(request.param))
