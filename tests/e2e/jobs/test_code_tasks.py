"""Functions are pushed, served by a real worker, checked, and never run in another version."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from switchyard.functions.definitions import FunctionDefinitions, definitions_of
from switchyard.functions.packages import located
from tests.e2e.conftest import RunningCloud
from tests.e2e.patience import eventually

NAME = "functions_of_the_tests"
SOURCE = '''
from switchyard.functions import progress, task

@task(timeout="1m", retries=0)
def split(text: str, size: int = 3) -> list[str]:
    """Cut a text into pieces."""
    progress(0.5, "cutting")
    return [text[at : at + size] for at in range(0, len(text), size)]

@task
def count(texts: list[str]) -> int:
    return len(texts)
'''


def push(cloud: RunningCloud, folder: Path) -> FunctionDefinitions:
    """Do what `switchyard definitions push` does, with the content that the folder has now."""
    sys.modules.pop(NAME, None)
    found = definitions_of(located(str(folder)))
    with cloud.http as http:
        for name, definition in found.definitions.items():
            document = definition.model_dump(mode="json", by_alias=True, exclude_defaults=True)
            answer = http.put(f"/task-definitions/{name}", json=document)
            assert answer.is_success, answer.text
    return found


@pytest.fixture(scope="module")
def served(cloud: RunningCloud, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("code") / NAME
    folder.mkdir()
    (folder / "__init__.py").write_text(SOURCE)
    cloud.local.up(print, functions=[str(folder)])
    yield folder
    cloud.local.up(print, functions=[])
    sys.modules.pop(NAME, None)


def test_functions_and_a_program_run_as_a_job(cloud: RunningCloud, served: Path) -> None:
    push(cloud, served)
    with cloud.http as http:
        command = {"kind": "code", "command": ["sh", "-c", "cp input.json artifacts/result.json"]}
        assert http.put("/task-definitions/copy", json=command).is_success
    pieces = "${tasks.pieces.output}"
    job_id = cloud.submit(
        {
            "name": "code",
            "tasks": [
                {"taskId": "pieces", "name": "split", "input": {"text": "abcdefg"}},
                {
                    "taskId": "number",
                    "name": "count",
                    "dependsOn": ["pieces"],
                    "input": {"texts": pieces},
                },
                {"taskId": "copied", "name": "copy", "dependsOn": ["pieces"], "input": pieces},
            ],
        }
    )

    assert cloud.settled(job_id).status == "completed"
    assert cloud.task(job_id, "pieces").output == ["abc", "def", "g"]
    assert cloud.task(job_id, "number").output == 3
    assert cloud.task(job_id, "copied").output == ["abc", "def", "g"]
    assert cloud.task(job_id, "pieces").cost_usd == 0


def test_a_wrong_input_fails_at_once(cloud: RunningCloud, served: Path) -> None:
    push(cloud, served)
    task = {"taskId": "a", "name": "count", "input": {"texts": 7}}
    job_id = cloud.submit({"name": "wrong", "tasks": [task]})

    assert cloud.settled(job_id).status == "failed"
    assert cloud.task(job_id, "a").attempt == 1
    assert "the input does not match its schema" in (cloud.task(job_id, "a").error or "")


def test_a_worker_with_another_version_hands_the_task_back_until_one_has_it(
    cloud: RunningCloud, served: Path
) -> None:
    (served / "__init__.py").write_text(SOURCE + "\n# the next version\n")
    push(cloud, served)
    (served / "__init__.py").write_text(SOURCE)
    task = {"taskId": "a", "name": "split", "input": {"text": "abc"}}
    job_id = cloud.submit({"name": "another version", "tasks": [task]})

    eventually(lambda: cloud.task(job_id, "a").error, "the task was not handed back")
    handed_back = cloud.task(job_id, "a")
    assert (handed_back.attempt, handed_back.settled_at) == (0, None)
    assert f"no worker that serves {NAME}@" in (handed_back.error or "")

    (served / "__init__.py").write_text(SOURCE + "\n# the next version\n")
    assert cloud.settled(job_id).status == "completed"
    assert cloud.task(job_id, "a").attempt == 1
