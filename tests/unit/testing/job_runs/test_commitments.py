"""Commitments of jobs in tests: files, outputs and commands are checked, in items and templates."""

from pathlib import Path
from typing import Any

import yaml

from switchyard.client import Job
from switchyard.testing import leaves, run_job

FILE = {"kind": "file", "path": "report.md", "name": "report"}
GREP = {"kind": "command", "command": ["grep", "-q", "done", "artifacts/report.md"]}
WRITER: dict[str, Any] = {"tag": "writer", "description": "Write."}
DONE = {"write": lambda _: leaves({"report.md": "done"}, {"ok": True})}


def test_a_task_that_keeps_its_word_completes() -> None:
    job = Job("committed")
    job.task("draft", name="write", commitments=[{"kind": "output", "condition": "${output.ok}"}])
    result = run_job(
        job, definitions={"write": WRITER | {"commitments": [FILE, GREP]}}, agents=DONE
    )
    assert result.errors == {}
    assert result.outputs["draft"] == {"ok": True}


def test_one_that_does_not_fails_after_all_its_attempts() -> None:
    job = Job("committed")
    job.task("draft", name="write", commitments=[FILE])
    result = run_job(job, definitions={"write": WRITER}, agents={"write": {"ok": True}})
    assert "1 of 1 commitments is not met: report: nothing in artifacts" in result.errors["draft"]
    assert result["draft"].attempts == 3


def test_each_item_of_a_fan_out_is_checked() -> None:
    job = Job("committed")
    job.fan_out(
        "drafts", "${input.items}", name="write", input={"items": [1, 2]}, commitments=[FILE]
    )
    result = run_job(job, definitions={"write": WRITER}, agents={"write": {"ok": True}})
    assert {"drafts[0]", "drafts[1]"} <= set(result.errors)


def test_tasks_of_a_template_are_checked(tmp_path: Path) -> None:
    task = {"taskId": "draft", "name": "write", "commitments": [FILE]}
    definitions = {"write": WRITER, "part": {"kind": "job", "tasks": [task]}}
    tasks = [{"taskId": "part", "kind": "job", "name": "part"}]
    path = tmp_path / "job.yaml"
    path.write_text(yaml.safe_dump({"name": "x", "definitions": definitions, "tasks": tasks}))
    result = run_job(str(path), agents={"write": {"ok": True}})
    assert "commitments is not met" in result.errors["part[draft]"]
