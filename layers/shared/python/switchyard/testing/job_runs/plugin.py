"""The pytest plugin: the fixture `run_job`. It imports nothing else before the fixture is used."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from switchyard.testing.job_runs.run import RunJob


@pytest.fixture
def run_job() -> RunJob:
    """Run a job in this process, with scripted agents, and return how each of its tasks ended."""
    from switchyard.testing.job_runs.run import run_job as run  # noqa: PLC0415 - only if used

    return run
