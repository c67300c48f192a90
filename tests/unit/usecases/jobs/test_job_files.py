"""Files of jobs: how they are uploaded, what a submission checks, and where they are named."""

import hashlib
from typing import Any

import pytest

from switchyard.adapters.system import SystemIds
from switchyard.contracts.files import FileContent
from switchyard.contracts.jobs import AddTasks, JobAccepted, SubmitJob
from switchyard.domain.errors import InvalidJob, MissingBlob
from switchyard.domain.ids import JobRef
from switchyard.domain.jobs.submission_keys import KeyKind
from switchyard.domain.prompts.artifacts import job_files_key, upload_key
from switchyard.ports import UploadRequest
from switchyard.testing import ManualClock, MemoryHarness
from switchyard.usecases.jobs.job_files import USED_AGAIN_MS, Uploads, read_job_files
from switchyard.usecases.jobs.read_jobs import read_job, read_task
from tests.builders import TENANT, a_definition, a_submission
from tests.fakes.harnesses.growing_harness import AddingHarness
from tests.fakes.harnesses.submitting import a_submitter
from tests.fakes.task_files import files_of

CONTENT = b"make it short"
SHA256 = hashlib.sha256(CONTENT).hexdigest()
BRIEF = FileContent(sha256=SHA256, size=len(CONTENT))
NAMED = {"brief.txt": {"sha256": SHA256, "size": len(CONTENT)}}


@pytest.fixture
def harness() -> MemoryHarness:
    harness = MemoryHarness(ManualClock())
    harness.definitions.put(TENANT, "scrape", a_definition())
    return harness


def uploads(harness: MemoryHarness, clock: ManualClock | None = None) -> Uploads:
    return Uploads(blobs=harness.blobs, links=harness.links, clock=clock or ManualClock())


def sent(harness: MemoryHarness, tenant: str = TENANT) -> None:
    link = uploads(harness).request(tenant, BRIEF)
    assert harness.links.sent(UploadRequest(link.url or "", link.headers, 0), link.headers, CONTENT)


def a_job(*files: str, **facts: Any) -> SubmitJob:
    task = {"taskId": "a", "name": "scrape", "files": list(files)} if files else None
    tasks = [task or {"taskId": "a", "name": "scrape"}]
    return SubmitJob.model_validate({"tasks": tasks, "files": NAMED} | facts)


def submit(harness: MemoryHarness, job: SubmitJob, **how: Any) -> JobAccepted:
    submitter = a_submitter(harness, clock=ManualClock(), ids=SystemIds())
    return submitter.submit(TENANT, job, **how)


def problems(harness: MemoryHarness, job: SubmitJob, **how: Any) -> list[str]:
    with pytest.raises(InvalidJob) as refused:
        submit(harness, job, **how)
    return [str(problem) for problem in refused.value.problems]


def test_a_link_takes_one_content_below_the_tenants_own_prefix(harness: MemoryHarness) -> None:
    sent(harness)
    assert harness.blobs.blobs == {f"task/uploads/acme/{SHA256}": CONTENT}


def test_a_content_of_the_last_day_is_not_asked_for_again(harness: MemoryHarness) -> None:
    clock = ManualClock()
    sent(harness)
    again = uploads(harness, clock).request(TENANT, BRIEF)
    assert (again.uploaded, again.url) == (True, None)
    clock.advance(USED_AGAIN_MS / 1000)
    later = uploads(harness, clock).request(TENANT, BRIEF)
    assert not later.uploaded
    assert later.url


def test_another_tenant_has_to_upload_the_same_content_itself(harness: MemoryHarness) -> None:
    sent(harness, tenant="other")
    assert not uploads(harness).request(TENANT, BRIEF).uploaded
    assert problems(harness, a_job()) == [
        "files.brief.txt: was not uploaded; ask for a link with POST /files first"
    ]


def test_a_job_names_its_files_in_a_document_beside_it(harness: MemoryHarness) -> None:
    sent(harness)
    accepted = submit(harness, a_job("job/brief"))
    ref = JobRef(TENANT, accepted.job_id)
    assert [file.name for file in read_job_files(ref, harness.blobs)] == ["brief.txt"]
    assert harness.state.jobs[ref].file_count == 1
    assert harness.state.payloads[ref.task("a")].files == ("job/brief",)


def test_a_job_and_its_task_show_their_files(harness: MemoryHarness) -> None:
    sent(harness)
    accepted = submit(harness, a_job("job/brief"))
    (link,) = read_job(TENANT, accepted.job_id, jobs=harness.jobs, files=files_of(harness)).files
    assert (link.name, link.size, link.sha256) == ("brief.txt", len(CONTENT), SHA256)
    assert harness.links.followed(link.url) == CONTENT
    task = read_task(
        TENANT,
        accepted.job_id,
        "a",
        graph=harness.graph,
        payloads=harness.payloads,
        files=files_of(harness),
    )
    assert task.input_files == ("job/brief",)


def test_a_job_whose_files_have_expired_is_still_shown(harness: MemoryHarness) -> None:
    sent(harness)
    accepted = submit(harness, a_job("job/brief"))
    harness.blobs.delete(job_files_key(TENANT, accepted.job_id))
    view = read_job(TENANT, accepted.job_id, jobs=harness.jobs, files=files_of(harness))
    assert view.files == ()


def test_a_file_of_another_size_is_refused(harness: MemoryHarness) -> None:
    harness.blobs.put(upload_key(TENANT, SHA256), b"short", content_type="text/plain")
    assert problems(harness, a_job()) == [
        "files.brief.txt.size: has 5 bytes as it was uploaded, not 13"
    ]


def test_a_reference_to_no_file_and_to_no_task_before_are_refused(harness: MemoryHarness) -> None:
    sent(harness)
    assert problems(harness, a_job("job/plan.md", "draft/*.md")) == [
        "tasks.0.files.0: job/plan.md names no file of the job; it has brief.txt",
        "tasks.0.files.1: draft/*.md names 'draft', which does not exist",
    ]


def test_a_job_of_a_trigger_has_no_files(harness: MemoryHarness) -> None:
    sent(harness)
    assert problems(harness, a_job(), key="k", kind=KeyKind.TRIGGER) == [
        "files: a job that a trigger starts has no files: they expire"
    ]


@pytest.mark.parametrize(
    "name", ["", "../brief", "a/b", ".hidden", "a\x00", "x" * 101, "brief\n", "ä"]
)
def test_a_name_that_is_no_plain_file_name_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="name of a file must be"):
        a_job(files={name: NAMED["brief.txt"]})


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"size": 100 * 1024 * 1024 + 1}, "at most 100 MB"),
        ({"size": -1}, "at most 100 MB"),
        ({"sha256": "../" + "0" * 61}, "must be the SHA-256"),
        ({"sha256": SHA256.upper()}, "must be the SHA-256"),
    ],
)
def test_a_content_is_bounded_and_named_by_its_checksum(changes: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        FileContent.model_validate({"sha256": SHA256, "size": 1} | changes)


def test_files_are_few_and_belong_to_tasks_that_a_worker_runs() -> None:
    with pytest.raises(ValueError, match="at most 100 are accepted"):
        a_job(files={f"f{number}": NAMED["brief.txt"] for number in range(101)})
    with pytest.raises(ValueError, match="at most 50 are accepted"):
        a_job(*[f"job/{number}" for number in range(51)])
    held = {"taskId": "a", "kind": "approval", "files": ["job/brief"]}
    with pytest.raises(ValueError, match="files belongs to a task that a worker runs"):
        a_job(tasks=[held])


@pytest.mark.parametrize("files", [{}, NAMED])
def test_added_tasks_may_ask_for_files_that_the_job_has(files: Any) -> None:
    growing = AddingHarness()
    key = upload_key(TENANT, SHA256)
    growing.memory.blobs.put(key, CONTENT, content_type="text/plain")
    accepted = growing.submit(a_submission({"a": []}, files=files))
    growing.job = JobRef(TENANT, accepted.job_id)
    task = {"taskId": "more", "name": "scrape", "dependsOn": ["a"], "files": ["job/brief"]}
    request = AddTasks.model_validate({"tasks": [task]})
    if files:
        assert growing.adder.add(growing.job, request).added_tasks == ("more",)
        assert growing.adder.add(growing.job, request).total_tasks_now == 2
        return
    with pytest.raises(InvalidJob, match="job/brief names no file of the job, which has none"):
        growing.adder.add(growing.job, request)


def test_files_that_nobody_stored_are_missing(harness: MemoryHarness) -> None:
    with pytest.raises(MissingBlob):
        read_job_files(JobRef(TENANT, "job-1"), harness.blobs)
