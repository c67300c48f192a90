"""Jobs in tests have files: submitted with them, left by agents, handed to code."""

from pathlib import Path

import pytest

from switchyard.client import Job
from switchyard.testing import JobTestError, leaves, run_job

WRITER = {"write": {"tag": "writer", "description": "Write."}}
COUNT = {"count": {"kind": "code", "command": ["sh", "-c", "cat inputs/*/* > artifacts/all.txt"]}}


def test_a_program_is_given_the_files_of_the_job(tmp_path: Path) -> None:
    (tmp_path / "b.md").write_text("second")
    job = Job("files")
    job.task("count", files=["job/*"])

    result = run_job(
        job, definitions=COUNT, files={"a.md": b"first, ", "b": str(tmp_path / "b.md")}
    )

    assert result.errors == {}
    assert result["count"].files == {"all.txt": b"first, second"}


def test_an_agent_leaves_files_for_the_tasks_after_it() -> None:
    job = Job("files")
    draft = job.task("draft", name="write", artifacts=["**/*.md"])
    job.task("count", files=["draft/**"], after=[draft])

    result = run_job(
        job,
        definitions=WRITER | COUNT,
        agents={"write": lambda _: leaves({"a.md": "text"}, {"done": True})},
    )

    assert result.outputs["draft"] == {"done": True}
    assert result["draft"].files == {"a.md": b"text"}
    assert result["count"].files == {"all.txt": b"text"}


def test_an_agent_that_leaves_nothing_fails_as_a_real_one_would() -> None:
    job = Job("files")
    job.task("draft", name="write", artifacts=["*.md"])

    result = run_job(job, definitions=WRITER, agents={"write": {"done": True}})

    assert "artifacts: nothing matches *.md" in result.errors["draft"]


def test_a_script_reads_the_files_of_its_task() -> None:
    job = Job("files")
    job.task("draft", name="write", files=["job/brief"])

    result = run_job(
        job,
        definitions=WRITER,
        files={"brief.md": b"be short"},
        agents={"write": lambda _: Path("inputs/job/brief.md").read_text()},
    )

    assert result.outputs["draft"] == "be short"


def test_a_list_is_read_from_a_file_and_the_artifacts_of_items_are_handed_on() -> None:
    job = Job("files")
    each = job.fan_out("each", {"file": "job/items"}, name="write", input={"n": "${item}"})
    job.task("count", files=["each/**/*.md"], after=[each])
    command = ["sh", "-c", "cat inputs/each/*/*.md > artifacts/all.txt"]

    result = run_job(
        job,
        definitions=WRITER | {"count": {"kind": "code", "command": command}},
        files={"items.jsonl": b"1\n2\n"},
        agents={"write": lambda given: leaves({"x.md": f"<{given['n']}>"})},
    )

    assert result.errors == {}
    assert result["count"].files == {"all.txt": b"<1><2>"}


def test_a_job_file_brings_what_lies_beside_it(tmp_path: Path) -> None:
    (tmp_path / "brief.md").write_text("be short")
    local = "local: {files: {brief: brief.md}}\n"
    command = "definitions: {count: {kind: code, command: [cp, inputs/job/brief.md, artifacts]}}\n"
    task = "tasks: [{taskId: count, name: count, files: [job/brief]}]\n"
    (tmp_path / "job.yaml").write_text(local + command + task)

    assert run_job(tmp_path / "job.yaml")["count"].files == {"brief.md": b"be short"}
    other = run_job(tmp_path / "job.yaml", files={"brief.md": b"another"})
    assert other["count"].files == {"brief.md": b"another"}


def test_a_file_that_the_test_does_not_give_is_named_with_what_to_do() -> None:
    job = Job("files")
    job.task("draft", name="write", files=["job/brief"])

    with pytest.raises(JobTestError) as refused:
        run_job(job, definitions=WRITER, agents={"write": 1})

    assert str(refused.value) == (
        "the job is refused: tasks.0.files.0: job/brief names no file of the job, which has "
        "none; give it to run_job, as in files={'brief': 'path/of/the/file'}"
    )


def test_names_that_no_file_can_have_are_refused(tmp_path: Path) -> None:
    job = Job("files")
    job.task("draft", name="write")
    with pytest.raises(JobTestError, match="the name of a file must be"):
        run_job(job, definitions=WRITER, files={"../a": b""}, agents={"write": 1})
    with pytest.raises(JobTestError, match="cannot be read"):
        run_job(job, definitions=WRITER, files={"a": tmp_path / "none"}, agents={"write": 1})
    with pytest.raises(JobTestError, match="cannot be left as an artifact"):
        leaves({"../a": ""})
