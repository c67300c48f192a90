from pathlib import Path

import pytest

from tests.worker.yard import WorkerYard


@pytest.fixture
def yard(tmp_path: Path) -> WorkerYard:
    return WorkerYard(tmp_path / "output")
