from pathlib import Path

import pytest

from tests.worker.harness import WorkerHarness


@pytest.fixture
def harness(tmp_path: Path) -> WorkerHarness:
    return WorkerHarness(tmp_path / "output")
