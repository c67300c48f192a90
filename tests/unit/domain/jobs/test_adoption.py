"""What another producer's message must be like to become a task."""

from typing import Any

import pytest

from switchyard.domain.ids import bare_task
from switchyard.domain.jobs.adoption import Adoptable, NotAdoptable, adopted_task, decide_adoption
from switchyard.domain.jobs.plan import Pinned
from switchyard.domain.states import TaskState
from switchyard.domain.tasks import due
from tests.builders import JOB, JOB_ID, NOW_MS, TENANT

BODY: dict[str, Any] = {"name": "scrape", "input": {"url": "u"}}


def test_a_bare_message_becomes_a_task_of_the_stages_tenant() -> None:
    body = BODY | {"tenantId": "somebody-else"}
    assert decide_adoption("42", body, tenant=TENANT) == Adoptable(bare_task(TENANT, "42"))


@pytest.mark.parametrize("job_id", [JOB_ID, "", None])
def test_a_message_that_speaks_of_a_job_is_not_adopted(job_id: str | None) -> None:
    decision = decide_adoption("42", BODY | {"jobId": job_id}, tenant=TENANT)
    assert isinstance(decision, NotAdoptable)
    assert "names a job" in decision.reason


@pytest.mark.parametrize(
    ("request_id", "reason"),
    [
        ("", "not a request id"),
        ("42\n", "not a request id"),
        ("../42", "not a request id"),
        ("~42", "not a request id"),
        ("x" * 257, "not a request id"),
        ("a__b", "`__` separates a job from its task"),
        (f"{JOB_ID}__a", "`__` separates a job from its task"),
        ("job-42", "ids of jobs begin with `job-`"),
        (JOB_ID, "ids of jobs begin with `job-`"),
    ],
)
def test_an_id_that_could_be_mistaken_is_not_adopted(request_id: str, reason: str) -> None:
    decision = decide_adoption(request_id, BODY, tenant=TENANT)
    assert isinstance(decision, NotAdoptable)
    assert reason in decision.reason


def test_an_adopted_task_is_queued_and_due_like_any_other() -> None:
    ref = bare_task(TENANT, "42")
    task = adopted_task(ref, definition="scrape", pinned=Pinned(3, 2), now_ms=NOW_MS)
    assert (task.ref, task.state, task.attempt) == (ref, TaskState.QUEUED, 0)
    assert (task.definition, task.definition_version) == ("scrape", 3)
    assert task.max_attempts == 2
    assert task.due_at_ms == NOW_MS + due.AFTER_QUEUED


def test_a_task_of_a_job_cannot_be_adopted() -> None:
    with pytest.raises(ValueError, match="belongs to a job"):
        adopted_task(JOB.task("a"), definition="scrape", pinned=Pinned(1), now_ms=NOW_MS)
