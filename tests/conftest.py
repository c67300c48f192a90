"""What holds for every test, however pytest was started."""

import gc
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

TOGETHER = {"e2e": "cloud", "scenarios": "scenarios", "stacks": "stacks"}
"""Folders whose tests share something expensive: one process runs them all."""
ELSEWHERE = {
    f"tests/e2e/test_{name}.py": "api" for name in ("api", "changes", "large_jobs", "operating")
}
"""What would keep the others waiting: a second process has a second cloud."""
FIRST = ("e2e", "scenarios", "local", "stacks")
"""What takes long, and mostly waits: at the end it would leave cores idle."""
LONG = ("tests/worker/test_wrong_clocks.py",)
"""Files of other folders of which the same is true."""
LAST = ("tests/e2e/test_lifecycle.py", "tests/e2e/test_large_jobs.py")
"""Of their folder: they leave a cloud started anew, and one that has much to do."""


class ByWhatTheyShare(LoadScopeScheduling):  # type: ignore[misc]
    """What shares nothing expensive is spread file by file."""

    def _split_scope(self, nodeid: str) -> str:
        file = nodeid.partition("::")[0]
        return ELSEWHERE.get(file) or TOGETHER.get(file.split("/")[1], file)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=_turn)


def _turn(item: pytest.Item) -> tuple[int, int]:
    file = item.nodeid.partition("::")[0]
    if file in LONG:
        return 0, -1
    return _index(file.split("/")[1], FIRST, else_=len(FIRST)), _index(file, LAST, else_=-1)


def _index(name: str, names: tuple[str, ...], *, else_: int) -> int:
    return names.index(name) if name in names else else_


def pytest_collection_finish() -> None:
    """Whatever was imported stays: to look through it again and again takes a tenth of the time."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> ByWhatTheyShare:
    return ByWhatTheyShare(config, log)
