"""Environment, order and distribution of all tests, however pytest was started."""

import gc
import importlib
import os
import signal
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling
from xdist.workermanage import WorkerController

from tests.collected import COLLECTED

# jsii looks for Node on the PATH; the venv's is the one that every machine has.
os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
for name in [name for name in os.environ if name.startswith(("AWS_", "ANTHROPIC_", "CLAUDE_"))]:
    del os.environ[name]  # no test may find the developer's account or credential
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
# A shell that starts us in the background ignores Ctrl-C for us and for all that we start.
signal.signal(signal.SIGINT, signal.default_int_handler)

# How long an example takes depends on what else the machine does.
settings.register_profile(
    "any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("any machine")

gc.disable()  # until all is imported: nothing of that is garbage

TOGETHER = {"e2e": "cloud", "scenarios": "scenarios", "stacks": "stacks"}
"""Folders whose tests share something expensive: one process runs all of a folder."""
ON_A_SECOND_CLOUD = (
    "tests/e2e/api/test_api.py",
    "tests/e2e/jobs/test_changes.py",
    "tests/e2e/jobs/test_large_jobs.py",
    "tests/e2e/operating/test_operating.py",
    "tests/e2e/test_docs.py",
    "tests/e2e/worker/test_rollout.py",
    "tests/e2e/worker/test_signals.py",
)
"""Files of `tests/e2e` that the others would have to wait for: another process deploys for them."""
FIRST = ("e2e", "scenarios", "local", "stacks")
"""Folders that take long and mostly wait. At the end of a run they would leave cores idle."""
LONG = (
    "tests/worker/test_orphans.py",
    "tests/worker/test_sick_machines.py",
    "tests/worker/test_wrong_clocks.py",
)
"""Files of another folder that start first for the same reason. They share a cloud, too."""
SEPARATE = ("tests/simulation/test_random_jobs.py",)
"""Files whose tests share nothing, and take long: each test may run in a process of its own."""
LAST = ("tests/e2e/operating/test_lifecycle.py", "tests/e2e/jobs/test_large_jobs.py")
"""The last of their group: one restarts the cloud, the other leaves it with work to do."""

UNTOUCHED = "tests/e2e/test_docs.py"
"""The first on its cloud: readers of the documentation have one that nothing has happened on."""


class ByWhatTheyShare(LoadScopeScheduling):  # type: ignore[misc]
    """Assigns groups of tests to processes: a folder that shares a cloud, otherwise a file."""

    def _split_scope(self, nodeid: str) -> str:
        file = nodeid.partition("::")[0]
        if file in ON_A_SECOND_CLOUD:
            return "second cloud"
        if file in LONG:
            return "workers"
        if file in SEPARATE:
            return nodeid
        return TOGETHER.get(file.split("/")[1], file)

    def mark_test_complete(
        self, node: WorkerController, item_index: int, duration: float = 0
    ) -> None:
        """Forget a test that has ended: what is left is counted after each, of ten thousand."""
        name = self.registered_collections[node][item_index]
        group = self._split_scope(name)
        left = self.assigned_work[node][group]
        del left[name]
        if not left:
            del self.assigned_work[node][group]
        self._reschedule(node)


def pytest_collection(session: pytest.Session) -> None:
    """Import the test files, each process from another one on, before pytest goes through them.

    In a fresh clone nothing has bytecode, and compiling takes longer than the tests of a folder.
    From one file on, all processes would compile the same at the same time, and none would find
    what another one has written.
    """
    worker = getattr(session.config, "workerinput", None)
    if worker is None:
        return
    files = [file for path in session.config.args for file in sorted(Path(path).rglob("test_*.py"))]
    first = len(files) * int(worker["workerid"].removeprefix("gw")) // worker["workercount"]
    for file in (*files[first:], *files[:first]):
        name = ".".join(file.resolve().relative_to(session.config.rootpath).with_suffix("").parts)
        with suppress(Exception, pytest.skip.Exception):  # pytest imports it again, and reports it
            importlib.import_module(name)


LONG_TESTS = "LONG_TESTS"
"""With this variable, tests that are marked as long run, and no others; or, if it says so, all."""


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    config.stash[COLLECTED] = [item.nodeid for item in items]
    wanted = LONG_TESTS in os.environ
    everything = os.environ.get(LONG_TESTS) == "all"
    chosen: list[pytest.Item] = []
    left_out: list[pytest.Item] = []
    for item in items:
        (chosen if everything or _is_long(item) == wanted else left_out).append(item)
    config.hook.pytest_deselected(items=left_out)
    items[:] = sorted(chosen, key=_turn)


def _is_long(item: pytest.Item) -> bool:
    return item.get_closest_marker("long") is not None


def _turn(item: pytest.Item) -> tuple[int, int]:
    file = item.nodeid.partition("::")[0]
    if file in LONG:
        return 0, -1
    turn = -2 if file == UNTOUCHED else _index(file, LAST, else_=-1)
    return _index(file.split("/")[1], FIRST, else_=len(FIRST)), turn


def _index(name: str, names: tuple[str, ...], *, else_: int) -> int:
    return names.index(name) if name in names else else_


def pytest_collection_finish() -> None:
    """Exempt all imported modules from garbage collection, which takes a tenth of the time."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)
    gc.enable()


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> ByWhatTheyShare:
    return ByWhatTheyShare(config, log)
