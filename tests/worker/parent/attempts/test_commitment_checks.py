"""What follows when commitments are not met: another attempt, which is told what was missing."""

import json
from dataclasses import replace
from typing import Any

import pytest

from switchyard.contracts.events import TaskCompleted, TaskFailed, TaskProcessingFailed
from switchyard.domain.states import TaskState
from tests.worker.harness import WorkerHarness

FILE = {"kind": "file", "path": "report.md", "name": "report"}
SECOND_TIME = """
import json, os
about = json.load(open(os.environ["ATTEMPT_FILE"]))
if about["missing"]:
    open("artifacts/report.md", "w").write(json.dumps(about))
"""


def add(harness: WorkerHarness, *commitments: Any, given: Any = None, **definition: Any) -> None:
    ref = harness.add_task(given=given, definition=definition, max_attempts=2)
    stored = harness.memory.state.payloads
    stored[ref] = replace(stored[ref], commitments=commitments)


def program(script: str) -> dict[str, Any]:
    code = {"kind": "code", "tag": None, "description": None}
    return code | {"command": ["python3", "-c", script]}


def properties(harness: WorkerHarness, event_type: str) -> dict[str, Any]:
    (event,) = [one for one in harness.memory.bus.events if one.event_type == event_type]
    return event.properties.model_dump(by_alias=True, mode="json")


def test_the_next_attempt_of_code_is_told_what_was_missing(harness: WorkerHarness) -> None:
    add(harness, FILE, **program(SECOND_TIME))
    harness.work(harness.quiet)
    task = harness.task()
    assert (task.state, task.attempt) == (TaskState.COMPLETED, 2)
    about = json.loads(harness.blob("artifacts/report.md"))
    (missing,) = about["missing"]
    assert (about["attempt"], missing["name"]) == (2, "report")
    assert "nothing in artifacts matches report.md" in missing["reason"]
    assert properties(harness, TaskProcessingFailed.event_type)["unmet"][0]["name"] == "report"
    completed = properties(harness, TaskCompleted.event_type)
    assert (completed["verified"], completed["commitmentsMet"]) == (True, 1)


def test_the_prompt_of_the_next_attempt_says_what_was_missing(harness: WorkerHarness) -> None:
    add(harness, FILE, given={"topic": "cheese"})
    harness.work(harness.quiet)
    task = harness.task()
    assert (task.state, task.attempt) == (TaskState.FAILED, 2)
    prompt = harness.blob("logs/task-step.prompt.md")
    assert "- files `report.md` in the folder `artifacts`" in prompt
    assert "# Earlier Attempt" in prompt
    assert "nothing in artifacts matches report.md" in prompt
    failed = properties(harness, TaskFailed.event_type)
    assert failed["errorCategory"] == "commitments-failed"
    assert failed["unmet"][0]["reason"].startswith("nothing in artifacts")


def test_commitments_of_a_definition_and_of_a_task_add_up(harness: WorkerHarness) -> None:
    add(harness, {"kind": "output", "condition": "exists ${output}"}, commitments=[FILE])
    harness.work(harness.quiet)
    checked = harness.task().commitments
    assert checked
    assert [(one.name, one.met) for one in checked.results] == [
        ("report", False),
        ("output-2", True),
    ]


def test_a_task_without_commitments_is_not_called_verified(harness: WorkerHarness) -> None:
    harness.add_task()
    harness.work(harness.quiet)
    assert properties(harness, TaskCompleted.event_type)["verified"] is None
    assert harness.task().commitments is None


@pytest.mark.parametrize("commitment", [{"kind": "oath"}, FILE | {"sworn": True}])
def test_a_commitment_of_a_newer_version_is_left_to_a_newer_worker(
    harness: WorkerHarness, commitment: dict[str, Any]
) -> None:
    add(harness, commitment)
    harness.work(lambda: "Task Released" in harness.emitted)
    task = harness.task()
    assert (task.state, task.attempt) == (TaskState.QUEUED, 0)
