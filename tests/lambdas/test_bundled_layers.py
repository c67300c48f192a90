"""Each handler imports with its layers and its own folder, and with nothing of the venv."""

import subprocess
import sys
from pathlib import Path

import pytest

from stacks.dependencies import bundle_dependencies
from tests.stacks.this_host import THIS_HOST

ROOT = Path(__file__).parents[2]
VERBS = sorted(path.parent.name for path in (ROOT / "lambdas").glob("*/handler.py"))
IMPORT_HANDLER = """
import sys
sys.path += sys.argv[1:]
import handler
outside = [p for p in sys.path if "site-packages" in p]
assert not outside, outside
assert callable(handler.handler)
"""


@pytest.fixture(scope="module")
def layers() -> list[str]:
    return [str(bundle_dependencies(THIS_HOST) / "python"), str(ROOT / "layers/shared/python")]


def import_with(*path: str) -> subprocess.CompletedProcess[str]:
    alone = [sys.executable, "-I", "-S", "-B", "-c", IMPORT_HANDLER]
    return subprocess.run([*alone, *path], capture_output=True, text=True, check=False)


@pytest.mark.parametrize("verb", VERBS)
def test_a_handler_imports_with_its_layers_alone(verb: str, layers: list[str]) -> None:
    result = import_with(*layers, str(ROOT / "lambdas" / verb))
    assert result.returncode == 0, result.stderr


def test_a_missing_dependency_would_show() -> None:
    result = import_with(str(ROOT / "layers/shared/python"), str(ROOT / "lambdas" / "api"))
    assert "No module named 'aws_lambda_powertools'" in result.stderr
