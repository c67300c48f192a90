"""A fan-out reads its list from a file of its job, or from an artifact of a task before it."""

import hashlib
from dataclasses import replace
from typing import Any

import pytest

from switchyard.contracts.files import FileContent
from switchyard.contracts.jobs import SubmitJob
from switchyard.domain.errors import InvalidJob
from switchyard.domain.fan_out.fan_outs import MAX_LIST_BYTES
from switchyard.domain.ids import JobRef
from switchyard.domain.prompts.artifacts import job_files_key, upload_key
from switchyard.domain.states import TaskState
from tests.builders import TENANT
from tests.fakes.harnesses.fan_out_harness import FanOutHarness
from tests.fakes.harnesses.job_harness import COMPLETED

PREFIX = "task/logs/made-by-list/"
ARTIFACT = {"file": "list/found.jsonl"}


class FileHarness(FanOutHarness):
    def with_file(self, content: bytes, *, stored: bytes | None = None, **more: Any) -> None:
        """Submit a job whose fan-out reads this file, and run what needs no worker."""
        sha256 = hashlib.sha256(content).hexdigest()
        key = upload_key(TENANT, sha256)
        self.memory.blobs.put(key, stored or content, content_type="text/plain")
        review = {"taskId": "review", "name": "scrape", "forEach": {"file": "job/items"}}
        request = SubmitJob.model_validate(
            {
                "name": "job",
                "files": {"items.jsonl": {"sha256": sha256, "size": len(content)}},
                "tasks": [{**review, "input": {"file": "${item}"}, **more}],
            }
        )
        self.job = JobRef(TENANT, self.submit(request).job_id)
        self.wake("__start__")
        self.work_off()

    def leaves(self, content: bytes | None) -> None:
        """Complete `list`, with a file among its artifacts."""
        if content is not None:
            key = f"{PREFIX}artifacts/found.jsonl"
            self.memory.blobs.put(key, content, content_type="text/plain")
        self.complete("list", None, replace(COMPLETED, artifacts=PREFIX))


@pytest.fixture
def harness() -> FileHarness:
    return FileHarness()


def test_each_line_of_a_file_of_the_job_is_an_item(harness: FileHarness) -> None:
    harness.with_file(b'{"n": 1}\n"${tasks.x.output}"\n')
    assert harness.items() == ["review[0]", "review[1]"]
    assert harness.input("review[0]") == {"file": {"n": 1}}
    assert harness.input("review[1]") == {"file": "$${tasks.x.output}"}


def test_an_empty_file_is_an_empty_list(harness: FileHarness) -> None:
    harness.with_file(b"")
    assert harness.state("review") is TaskState.COMPLETED
    assert harness.output() == []


def test_items_of_a_file_have_keys_of_their_own(harness: FileHarness) -> None:
    harness.with_file(b'{"id": "x"}\n{"id": 7}\n', key="${item.id}")
    assert harness.items() == ["review[7]", "review[x]"]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"1\noops\n", "forEach: line 2 of job/items is not JSON: Expecting value, at column 1"),
        (b"x" * (MAX_LIST_BYTES + 1), "forEach: job/items has 5,000,001 bytes or more"),
    ],
)
def test_a_file_that_cannot_be_used_fails_the_task(
    harness: FileHarness, content: bytes, said: str
) -> None:
    harness.with_file(content)
    assert harness.state("review") is TaskState.FAILED
    assert harness.error().startswith(said)
    assert harness.items() == []


def test_each_line_of_an_artifact_is_an_item(harness: FileHarness) -> None:
    harness.begin(forEach=ARTIFACT)
    harness.leaves(b'"a"\n"b"\n')
    assert harness.input("review[1]") == {"file": "b", "number": 1}


def test_a_file_that_the_task_did_not_leave_fails_the_fan_out(harness: FileHarness) -> None:
    harness.begin(forEach=ARTIFACT)
    harness.leaves(None)
    said = "forEach: there is no file list/found.jsonl, or it has expired"
    assert harness.error() == said


def test_a_task_that_no_worker_ran_has_no_artifacts(harness: FileHarness) -> None:
    harness.begin(forEach=ARTIFACT)
    harness.complete("list", None)
    assert harness.error() == "forEach: 'list' has no artifacts: no worker ran it"


def test_a_file_with_another_content_than_was_submitted_fails_the_fan_out(
    harness: FileHarness,
) -> None:
    harness.with_file(b"1\n", stored=b"2\n")
    assert harness.error() == "forEach: job/items does not have its checksum"


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({}, "job/items names no file of the job, which has none"),
        ({"other.jsonl": {"sha256": "0" * 64, "size": 0}}, "job/items names no file of the job"),
    ],
)
def test_a_list_that_the_job_does_not_have_is_refused_with_the_job(
    harness: FileHarness, files: dict[str, Any], said: str
) -> None:
    contents = {name: FileContent.model_validate(file) for name, file in files.items()}
    for file in contents.values():
        harness.memory.blobs.put(upload_key(TENANT, file.sha256), b"", content_type="text/plain")
    task = {"taskId": "review", "name": "scrape", "forEach": {"file": "job/items"}}
    request = SubmitJob.model_validate({"name": "job", "tasks": [task]})
    with pytest.raises(InvalidJob) as refused:
        harness.submit(request.model_copy(update={"files": contents}))
    [problem] = refused.value.problems
    assert problem.path == ("tasks", 0, "forEach")
    assert problem.message.startswith(said)


def test_the_task_that_leaves_the_list_has_to_come_before(harness: FileHarness) -> None:
    with pytest.raises(InvalidJob) as refused:
        harness.begin(forEach={"file": "sum/found.jsonl"})
    assert "sum" in str(refused.value.problems[0])


def test_files_of_a_job_that_have_expired_fail_its_fan_out(harness: FileHarness) -> None:
    review = {"taskId": "review", "name": "scrape", "forEach": {"file": "job/items"}}
    held = {"taskId": "list", "name": "scrape"}
    content = b"1\n"
    sha256 = hashlib.sha256(content).hexdigest()
    harness.memory.blobs.put(upload_key(TENANT, sha256), content, content_type="text/plain")
    request = SubmitJob.model_validate(
        {
            "name": "job",
            "files": {"items.jsonl": {"sha256": sha256, "size": len(content)}},
            "tasks": [held, {**review, "dependsOn": ["list"]}],
        }
    )
    harness.job = JobRef(TENANT, harness.submit(request).job_id)
    harness.wake("__start__")
    harness.memory.blobs.delete(job_files_key(TENANT, harness.job.job_id))
    harness.complete("list", None)
    assert harness.error() == "forEach: there is no file job/items, or it has expired"
