"""The pytest plugin: what a test of a user's sees, and what it costs everybody else."""

import subprocess
import sys
from importlib.metadata import entry_points
from typing import Final

import pytest

pytest_plugins = ["pytester"]

USED: Final = """
from switchyard.testing import fails

def test_a_job(run_job):
    result = run_job("job.yaml", agents={"greet": {"text": "Hello"}})
    assert result.outputs == {"a": {"text": "Hello"}}

def test_a_failure(run_job):
    assert run_job("job.yaml", agents={"greet": fails("no", "auth")}).status == "failed"
"""
FILE: Final = """
definitions: {greet: {tag: host, description: Greet.}}
tasks: [{taskId: a, name: greet}]
"""
SLOW_TO_IMPORT: Final = ("pydantic", "boto3", "yaml", "asyncio", "switchyard_worker", "typer")


def test_an_installed_switchyard_brings_the_plugin() -> None:
    (point,) = entry_points(group="pytest11", name="switchyard")
    assert point.value == "switchyard.testing.job_runs.plugin"


@pytest.mark.slow
def test_a_users_test_has_the_fixture(pytester: pytest.Pytester) -> None:
    pytester.makefile(".yaml", job=FILE)
    pytester.makepyfile(USED)

    pytester.runpytest_subprocess("-q").assert_outcomes(passed=2)


@pytest.mark.slow
def test_the_plugin_imports_nothing_before_the_fixture_is_used() -> None:
    script = (
        "import pytest, sys; before = set(sys.modules); "
        "import switchyard.testing.job_runs.plugin; print(*(set(sys.modules) - before))"
    )
    ended = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )

    imported = ended.stdout.split()
    assert "switchyard.testing.job_runs.plugin" in imported
    assert [name for name in imported if name.startswith(SLOW_TO_IMPORT)] == []
    assert len(imported) < 10
