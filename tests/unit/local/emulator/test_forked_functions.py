"""Functions that are forks of a warm process, which they must not be able to tell."""

import json
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from ministack.core import lambda_runtime

from stacks.paths import REPOSITORY, SHARED_LAYER
from switchyard_local.emulator.forked_functions import ForkedFunction, Functions, WarmProcess

SCRIPT = lambda_runtime._PYTHON_WORKER_SCRIPT
LAYER = """
import os
at_import = os.environ.get("LOOKED_AT")
"""
HANDLER = """
import os, sys

def handler(event, context):
    import switchyard
    return {
        "pid": os.getpid(), "cwd": os.getcwd(), "environment": dict(os.environ),
        "searched": sys.path, "argv": sys.argv, "at_import": switchyard.at_import,
    }
"""


class Started:
    """A function's process, talked to as MiniStack does."""

    def __init__(self, process: Any, code: Path) -> None:
        self.process = process
        init = {"code_dir": str(code), "module": "handler", "handler": "handler"}
        process.stdin.write(json.dumps(init) + "\n")
        process.stdin.flush()
        assert json.loads(process.stdout.readline())["status"] == "ready"

    @property
    def forked(self) -> bool:
        return isinstance(self.process, ForkedFunction)

    def called(self) -> Any:
        self.process.stdin.write('{"event": {}}\n')
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())["result"]


class Cloud:
    def __init__(self, folder: Path) -> None:
        self.functions = Functions()
        self.folder = folder
        self.started: list[Started] = []

    def layer(self, name: str, text: str = LAYER) -> Path:
        package = self.folder / name / "python" / "switchyard"
        package.mkdir(parents=True)
        (package / "__init__.py").write_text(text)
        return self.folder / name

    def start(self, name: str, layer: Path, /, module: str = "other", **variables: str) -> Started:
        code = self.folder / name / "code"
        code.mkdir(parents=True)
        (code / "handler.py").write_text(HANDLER)
        (code / f"{module}.py").touch()
        script = code.parent / "_worker.py"
        script.write_text(SCRIPT)
        layers = {"_LAMBDA_LAYERS_DIRS": str(layer), "LAMBDA_TASK_ROOT": str(code)}
        process = self.functions.start(
            [sys.executable, str(script)],
            cwd=str(code),
            env={**layers, "LANG": "C.UTF-8", **variables},
            stdin=-1,
            stdout=-1,
            stderr=-1,
            text=True,
        )
        self.started.append(Started(process, code))
        return self.started[-1]

    def end(self) -> None:
        for started in self.started:
            for stream in ("stdin", "stdout", "stderr"):
                getattr(started.process, stream).close()
            started.process.wait(10)
        self.functions.end()


@pytest.fixture
def cloud(tmp_path: Path) -> Iterator[Cloud]:
    cloud = Cloud(tmp_path)
    yield cloud
    cloud.end()


def test_a_function_has_its_own_environment_folder_and_search_path(cloud: Cloud) -> None:
    layer = cloud.layer("layer")
    cloud.start("a", layer, OF_A="1")
    b = cloud.start("b", layer, OF_B="2")
    code = cloud.folder / "b" / "code"

    seen = b.called()

    assert b.forked
    assert seen["pid"] == b.process.pid
    assert seen["cwd"] == str(code)
    assert seen["argv"] == [str(code.parent / "_worker.py")]
    assert seen["environment"] == {
        "_LAMBDA_LAYERS_DIRS": str(layer),
        "LAMBDA_TASK_ROOT": str(code),
        "LANG": "C.UTF-8",
        "OF_B": "2",
    }
    assert not [entry for entry in seen["searched"] if "emulator" in entry]


def test_it_searches_what_a_process_of_its_own_would(cloud: Cloud) -> None:
    layer = cloud.layer("layer")
    own = cloud.start("own", layer, module="json")
    forked = cloud.start("forked", layer)

    searched = [entry.replace("/own", "/forked") for entry in own.called()["searched"]]

    assert (own.forked, forked.forked) == (False, True)
    assert forked.called()["searched"] == searched


def test_a_variable_that_an_import_looked_at_makes_a_process_of_its_own(cloud: Cloud) -> None:
    layer = cloud.layer("layer")
    first = cloud.start("first", layer, LOOKED_AT="1")
    second = cloud.start("second", layer, LOOKED_AT="2")

    assert (first.forked, second.forked) == (True, False)
    assert (first.called()["at_import"], second.called()["at_import"]) == ("1", "2")


def test_changed_layers_are_imported_anew(cloud: Cloud) -> None:
    before = cloud.start("before", cloud.layer("old"))
    after = cloud.start("after", cloud.layer("new", "at_import = 'new'"))

    assert after.forked
    assert after.called()["at_import"] == "new"
    assert before.called()["at_import"] is None


def test_a_function_whose_warm_process_was_replaced_goes_on(cloud: Cloud) -> None:
    first = cloud.start("first", cloud.layer("layer-0"))
    for number in (1, 2, 3):
        cloud.start(str(number), cloud.layer(f"layer-{number}"))

    assert first.called()["at_import"] is None


def test_layers_that_cannot_be_imported_fail_in_the_function(cloud: Cloud) -> None:
    layer = cloud.layer("layer", "raise ValueError('broken')")

    started = cloud.start("a", layer)

    assert not started.forked


def test_a_killed_function_has_ended_and_starts_anew(cloud: Cloud) -> None:
    layer = cloud.layer("layer")
    killed = cloud.start("killed", layer)
    assert killed.process.poll() is None

    killed.process.terminate()

    assert killed.process.wait(10) == 0
    assert killed.process.poll() == 0
    assert cloud.start("again", layer).forked


def test_a_killed_warm_process_is_replaced(cloud: Cloud) -> None:
    layer = cloud.layer("layer")
    first = cloud.start("first", layer)
    (warm,) = cloud.functions._warm.values()
    os.kill(warm._process.pid, signal.SIGKILL)
    warm._process.wait()

    during = cloud.start("during", layer)

    assert not during.forked
    assert cloud.start("later", layer).forked
    assert first.called()["at_import"] is None


def test_a_function_ends_when_nobody_can_call_it_any_more(cloud: Cloud) -> None:
    started = cloud.start("a", cloud.layer("layer"))

    started.process.stdin.close()

    assert started.process.wait(10) == 0


def test_imports_of_our_layer_look_at_nothing_that_differs_between_functions(
    tmp_path: Path,
) -> None:
    """Otherwise each function would start as a process of its own again."""
    of_one = ("AWS_LAMBDA_FUNCTION_NAME", "LAMBDA_TASK_ROOT", "POWERTOOLS_SERVICE_NAME")
    first, second = (dict.fromkeys(of_one, function) for function in ("first", "second"))
    layer = tmp_path / "layer" / "python" / "switchyard"
    layer.mkdir(parents=True)
    for part in (SHARED_LAYER / "python" / "switchyard").iterdir():
        if part.name not in ("client", "testing"):  # they are not deployed
            (layer / part.name).symlink_to(part)
    warm = WarmProcess([str(tmp_path / "layer")], first, cwd=tmp_path)
    try:
        assert warm.suits(second, REPOSITORY / "lambdas" / "api")
    finally:
        warm.end()
