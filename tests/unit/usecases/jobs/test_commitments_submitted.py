"""Commitments of a submission: what is refused, and what readers of a task see of them."""

from dataclasses import replace
from typing import Any

import pytest

from switchyard.adapters.system import SystemIds
from switchyard.contracts.jobs import SubmitJob
from switchyard.domain.access.limits import Ceilings
from switchyard.domain.commitments.results import CheckedCommitments, CommitmentResult
from switchyard.domain.errors import InvalidJob
from switchyard.domain.ids import JobRef
from switchyard.domain.states import TaskState
from switchyard.testing import ManualClock, MemoryHarness
from switchyard.usecases.jobs.read_jobs import read_task
from tests.builders import TENANT, a_definition
from tests.fakes.harnesses.submitting import a_submitter
from tests.fakes.task_files import files_of

FILE = {"kind": "file", "path": "report.md"}
PRIVATE = {"kind": "http", "url": "https://10.0.0.1/"}
DEAR = {"kind": "rubric", "rubric": "Good.", "maxCostUsd": 500}


@pytest.fixture
def harness() -> MemoryHarness:
    harness = MemoryHarness(ManualClock())
    harness.definitions.put(TENANT, "scrape", a_definition(commitments=[FILE] * 10))
    return harness


def submit(harness: MemoryHarness, *commitments: dict[str, Any]) -> JobRef:
    submitter = a_submitter(harness, clock=ManualClock(), ids=SystemIds())
    submitter = replace(submitter, ceilings=Ceilings(max_cost_usd=50))
    task = {"taskId": "a", "name": "scrape", "commitments": list(commitments)}
    accepted = submitter.submit(TENANT, SubmitJob.model_validate({"tasks": [task]}))
    return JobRef(TENANT, accepted.job_id)


@pytest.mark.parametrize(
    ("commitments", "said"),
    [
        ([FILE] * 11, "tasks.0.commitments: has 11 commitments and its definition 10; at most 20"),
        ([PRIVATE], "tasks.0.commitments.0.url: 10.0.0.1 is private"),
        ([DEAR], "tasks.0.commitments.0.maxCostUsd: is 500.0; this stage allows at most 50"),
    ],
)
def test_what_the_stage_does_not_allow_is_refused(
    harness: MemoryHarness, commitments: list[dict[str, Any]], said: str
) -> None:
    with pytest.raises(InvalidJob) as refused:
        submit(harness, *commitments)
    assert said in str(refused.value.problems[0])


def test_a_reader_sees_what_was_found(harness: MemoryHarness) -> None:
    ref = submit(harness, FILE | {"name": "report"}).task("a")
    result = CommitmentResult(name="report", kind="file", met=True, reason="4 bytes", duration_ms=2)
    harness.state.tasks[ref] = replace(
        harness.state.tasks[ref],
        state=TaskState.COMPLETED,
        attempt=2,
        commitments=CheckedCommitments(2, (result,)),
    )
    view = read_task(
        TENANT,
        ref.job_id,
        "a",
        graph=harness.graph,
        payloads=harness.payloads,
        files=files_of(harness),
    )
    shown = view.model_dump(mode="json", by_alias=True)
    assert (shown["verified"], shown["commitmentsCheckedIn"]) == (True, 2)
    assert shown["commitments"] == [
        {"name": "report", "kind": "file", "met": True, "reason": "4 bytes", "durationMs": 2}
    ]
