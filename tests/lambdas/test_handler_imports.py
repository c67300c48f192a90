"""What a function imports makes its start slower, so it imports only what it may need."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
VERBS = sorted(path.parent.name for path in (ROOT / "lambdas").glob("*/handler.py"))
NEVER = {
    "anthropic",
    "claude_agent_sdk",
    "httpx",
    "jsonschema",
    "rich",
    "slack_sdk",
    "switchyard.testing",
    "switchyard.bootstrap.operators",
    "switchyard.bootstrap.worker",
    "switchyard.client",
    "typer",
    "yaml",
}
# Each has a process, forked from one that has what all of them need.
SCRIPT = """
import json, os, sys
import aws_lambda_powertools.utilities.batch, boto3, pydantic_settings
for verb in sys.argv[2:]:
    child = os.fork()
    if child == 0:
        sys.path.insert(0, os.path.join(sys.argv[1], verb))
        import handler
        print(json.dumps([verb, list(sys.modules)]), flush=True)
        os._exit(0)
    os.waitpid(child, 0)
"""


@pytest.fixture(scope="module")
def imported() -> dict[str, set[str]]:
    environment = {
        "PYTHONPATH": str(ROOT / "layers/shared/python"),
        "AWS_DEFAULT_REGION": "us-east-1",
        "LAMBDA_TASK_ROOT": str(ROOT),
        "POWERTOOLS_SERVICE_NAME": "imports",
        "POWERTOOLS_METRICS_NAMESPACE": "Switchyard",
    }
    command = [sys.executable, "-c", SCRIPT, str(ROOT / "lambdas"), *VERBS]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    return {verb: set(modules) for verb, modules in map(json.loads, done.stdout.splitlines())}


@pytest.mark.parametrize("verb", VERBS)
def test_no_function_imports_what_only_others_need(
    imported: dict[str, set[str]], verb: str
) -> None:
    assert verb in imported, "it cannot be imported"
    assert not imported[verb] & NEVER


@pytest.mark.parametrize("verb", [verb for verb in VERBS if verb != "api"])
def test_only_the_api_imports_how_the_api_answers(imported: dict[str, set[str]], verb: str) -> None:
    assert "aws_lambda_powertools.event_handler.openapi" in imported["api"]
    assert not imported[verb] & {
        "aws_lambda_powertools.event_handler.openapi",
        "switchyard.bootstrap.api",
    }


@pytest.mark.parametrize("verb", ["authorize", "save_event"])
def test_what_has_nothing_to_do_with_running_tasks_imports_none_of_it(
    imported: dict[str, set[str]], verb: str
) -> None:
    assert not imported[verb] & {
        "switchyard.contracts.definitions",
        "switchyard.contracts.messages",
        "switchyard.ports.jobs",
        "switchyard.ports.queues",
        "switchyard.ports.tasks",
    }
