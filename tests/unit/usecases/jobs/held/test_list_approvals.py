"""What waits for a person is listed without reading more than the open jobs."""

from typing import Any

import pytest

from switchyard.contracts.jobs import JobAccepted, SubmitJob
from switchyard.domain.errors import Rejected
from switchyard.usecases.jobs import list_approvals
from switchyard.usecases.jobs.list_approvals import HeldApprovals
from tests.builders import TENANT
from tests.fakes.harnesses.held_harness import WORKER, HeldHarness, ManyIds
from tests.fakes.harnesses.submitting import a_submitter

GATE: dict[str, Any] = {"kind": "approval", "question": "Publish it?"}


class Numbered(ManyIds):
    def __init__(self, number: int) -> None:
        super().__init__()
        self._job_id = f"job-00000000-0000-4000-8000-{number:012d}"

    def new_job_id(self) -> str:
        return self._job_id


class ManyJobs(HeldHarness):
    """Each job that is begun has an id of its own, and is a second younger."""

    number = 0

    def begin_another(self, number: int, **tasks: dict[str, Any]) -> None:
        self.clock.advance(1)
        self.number = number
        self.begin(**tasks)

    def submit(self, request: SubmitJob) -> JobAccepted:
        ids = Numbered(self.number)
        return a_submitter(self.memory, clock=self.clock, ids=ids).submit(TENANT, request)

    @property
    def approvals(self) -> HeldApprovals:
        memory = self.memory
        return HeldApprovals(
            open_tasks=memory.open_tasks,
            jobs=memory.jobs,
            graph=memory.graph,
            payloads=memory.payloads,
        )

    def listed(self, **asked: Any) -> tuple[list[tuple[int, str]], str | None]:
        page = self.approvals.page(TENANT, **{"limit": 20, **asked})
        shown = [(int(one.job_id[-3:]), one.task_id) for one in page.approvals]
        return shown, page.cursor


@pytest.fixture
def harness() -> ManyJobs:
    return ManyJobs()


def test_held_approvals_are_listed_those_of_the_newest_job_first(harness: ManyJobs) -> None:
    later = {**GATE, "dependsOn": ["write"]}
    harness.begin_another(1, gate=GATE, pause={"kind": "wait", "for": "1h"})
    harness.begin_another(2, write=WORKER, gate=later)
    harness.begin_another(3, b=GATE, a=GATE)

    assert harness.listed() == ([(3, "a"), (3, "b"), (1, "gate")], None)


def test_an_approval_says_what_is_asked_and_until_when(harness: ManyJobs) -> None:
    harness.begin_another(1, gate={**GATE, "question": "?" * 1_000, "timeout": "1h"})

    (shown,) = harness.approvals.page(TENANT, limit=1).approvals

    assert (shown.name, len(shown.question or "")) == ("flow", 300)
    assert shown.held_since is not None
    assert shown.held_until is not None
    assert (shown.held_until - shown.held_since).total_seconds() == 3600


def test_what_was_decided_is_listed_no_more(harness: ManyJobs) -> None:
    harness.begin_another(1, gate=GATE)
    harness.decide("gate")

    assert harness.listed() == ([], None)


def test_pages_go_on_within_a_job_and_between_jobs(harness: ManyJobs) -> None:
    harness.begin_another(1, gate=GATE)
    harness.begin_another(2, a=GATE, b=GATE, c=GATE)

    seen, cursor = harness.listed(limit=2)
    assert seen == [(2, "a"), (2, "b")]
    rest, end = harness.listed(limit=2, cursor=cursor)
    assert (rest, end) == ([(2, "c"), (1, "gate")], None)


def test_a_request_looks_at_so_many_jobs_and_says_where_to_go_on(
    harness: ManyJobs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(list_approvals, "MOST_JOBS", 2)
    harness.begin_another(1, gate=GATE)
    for number in (2, 3):
        harness.begin_another(number, write=WORKER)

    seen, cursor = harness.listed()
    assert seen == []
    assert harness.listed(cursor=cursor)[0] == [(1, "gate")]


def test_a_request_looks_at_so_many_tasks(
    harness: ManyJobs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(list_approvals, "MOST_TASKS", 1)
    harness.begin_another(1, gate=GATE)
    harness.begin_another(2, gate=GATE)

    seen, cursor = harness.listed()
    assert seen == [(2, "gate")]
    assert harness.listed(cursor=cursor) == ([(1, "gate")], None)


@pytest.mark.parametrize("cursor", ["", "x", "1" * 13, f"{'1' * 13}#job-1#a"])
def test_a_cursor_of_others_is_refused(harness: ManyJobs, cursor: str) -> None:
    with pytest.raises(Rejected, match="not one that a listing returned"):
        harness.listed(cursor=cursor)


def test_other_tenants_see_nothing(harness: ManyJobs) -> None:
    harness.begin_another(1, gate=GATE)

    assert harness.approvals.page("other", limit=20).approvals == ()
