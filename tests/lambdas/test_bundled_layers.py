"""Each handler imports with its layers and its own folder, and with nothing of the venv."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, get_args

import pytest

from stacks.dependencies import bundle_dependencies
from switchyard.adapters.aws_services import Service
from tests.stacks.this_host import THIS_HOST

ROOT = Path(__file__).parents[2]
SHARED = str(ROOT / "layers" / "shared" / "python")
FOLDERS = {path.parent.name: str(path.parent) for path in (ROOT / "lambdas").glob("*/handler.py")}
IMPORT_HANDLERS = """
import json, sys, traceback
layers, folders = json.loads(sys.argv[1])
sys.path += layers
outside = [p for p in sys.path if "site-packages" in p]
assert not outside, outside

def problem_in(folder):
    sys.path.append(folder)
    try:
        import handler
        assert callable(handler.handler)
    except Exception:
        return traceback.format_exc()
    finally:
        sys.path.remove(folder)
        for name, module in list(sys.modules.items()):
            if (getattr(module, "__file__", None) or "").startswith(folder):
                del sys.modules[name]

print(json.dumps({verb: problem_in(folder) for verb, folder in folders.items()}))
"""


MAKE_CLIENTS = """
import json, sys
layers, services = json.loads(sys.argv[1])
sys.path += layers
from switchyard.adapters import aws
for service in services:
    aws.client(service, region_name="us-east-1")
import aws_xray_sdk.core.sampling.connector as xray
xray.ServiceConnector()
"""


def problems_with(layers: list[str], folders: dict[str, str]) -> Any:
    """All in one process, each without the others' folders: most of the time goes to the layers."""
    alone = [sys.executable, "-I", "-S", "-B", "-c", IMPORT_HANDLERS]
    given = json.dumps([layers, folders])
    said = subprocess.run([*alone, given], stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(said.stdout)


@pytest.fixture(scope="module")
def problems() -> Any:
    return problems_with(deployed_layers(), FOLDERS)


def deployed_layers() -> list[str]:
    return [str(bundle_dependencies(THIS_HOST) / "python"), SHARED]


@pytest.mark.parametrize("verb", sorted(FOLDERS))
def test_a_handler_imports_with_its_layers_alone(verb: str, problems: Any) -> None:
    assert problems[verb] is None, problems[verb]


def test_a_missing_dependency_would_show() -> None:
    problems = problems_with([SHARED], {"api": FOLDERS["api"]})
    assert "No module named 'aws_lambda_powertools'" in problems["api"]


def test_every_service_that_has_a_client_is_described_in_the_layer() -> None:
    alone = [sys.executable, "-I", "-S", "-B", "-c", MAKE_CLIENTS]
    given = json.dumps([deployed_layers(), get_args(Service)])
    subprocess.run([*alone, given], check=True)


def test_only_one_module_makes_clients() -> None:
    """The types of its clients name the services that the layer has to describe."""
    makers = [
        str(file.relative_to(ROOT))
        for folder in (Path(SHARED), ROOT / "lambdas")
        for file in folder.rglob("*.py")
        if re.search(
            r"^\s*(import boto(3|core)\b(?!\.)|from boto(3|core) import)", file.read_text(), re.M
        )
    ]
    assert makers == ["layers/shared/python/switchyard/adapters/aws.py"]
