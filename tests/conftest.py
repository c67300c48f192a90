"""What holds for every test, however pytest was started."""

import os
import signal
import sys
from pathlib import Path

import pytest
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling

# jsii looks for Node on the PATH; the venv's is the one that every machine has.
os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
for name in [name for name in os.environ if name.startswith(("AWS_", "ANTHROPIC_", "CLAUDE_"))]:
    del os.environ[name]  # no test may find the developer's account or credential
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
# A shell that starts us in the background ignores Ctrl-C for us and for all that we start.
signal.signal(signal.SIGINT, signal.default_int_handler)

TOGETHER = {"e2e": "cloud", "local": "cloud", "stacks": "stacks"}
"""Folders whose tests share something expensive: one process runs them all."""
ALONE = {"tests/e2e/test_api.py", "tests/e2e/test_large_jobs.py"}
"""What would keep the others waiting: a process of its own has a cloud of its own."""


class ByWhatTheyShare(LoadScopeScheduling):  # type: ignore[misc]
    """What shares nothing expensive is spread file by file."""

    def _split_scope(self, nodeid: str) -> str:
        file = nodeid.partition("::")[0]
        return file if file in ALONE else TOGETHER.get(file.split("/")[1], file)


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> ByWhatTheyShare:
    return ByWhatTheyShare(config, log)
