"""The contract of `Redriving` for tasks that completed, and for fan-outs."""

from dataclasses import replace

import pytest

from switchyard.domain.jobs.plan import Pinned
from switchyard.domain.states import TaskState
from switchyard.domain.tasks.task import Outcome, Payload
from switchyard.ports import Claimed
from tests.builders import JOB, NOW_MS, a_plan
from tests.contract.conftest import Backend
from tests.contract.jobs import test_redriving as steps
from tests.contract.jobs.test_redriving import CHILD, begun, reopening, the_task

settled = steps.settled


@pytest.mark.parametrize("given", [None, Payload(input="new")], ids=["kept", "given"])
def test_a_completed_task_begins_without_the_output_of_its_last_run(
    settled: Backend, given: Payload | None
) -> None:
    settled.redriving.reopen(JOB, reopening(), now_ms=NOW_MS)
    claimed = settled.leases.claim(JOB.task(CHILD), owner="w2", now_ms=NOW_MS, lease_ms=1000)
    assert isinstance(claimed, Claimed)
    done = Outcome(state=TaskState.COMPLETED, exit_code=0)
    settled.leases.settle(claimed.lease, done, output="made", now_ms=NOW_MS)
    depends_on = settled.payloads.read(JOB.task(CHILD)).depends_on
    planned = reopening(state=TaskState.COMPLETED, run=4, fence=the_task(settled).fence)
    for _ in range(2):
        task = settled.redriving.reopen(JOB, planned, given=given, now_ms=NOW_MS)
        assert task is not None
        assert (task.state, task.run) == (TaskState.READY, 5)
    assert settled.payloads.outputs(JOB, [CHILD]) == {}
    stored = settled.payloads.read(JOB.task(CHILD))
    assert (stored.output, stored.depends_on) == (None, depends_on)
    assert stored.input == (given.input if given else None)


def test_a_fan_out_begins_without_its_items_and_with_another_version(settled: Backend) -> None:
    before = replace(
        the_task(settled),
        ref=JOB.task("fan"),
        child_count=3,
        expanded=2,
        state=TaskState.FAILED,
    )
    plan = a_plan()
    settled.intake.write_part(replace(plan, tasks=(before,), dependents={}, payloads={}))
    planned = reopening(
        task_id="fan", fence=before.fence, items_run=2, pinned=Pinned(version=9, max_attempts=1)
    )
    task = settled.redriving.reopen(JOB, planned, now_ms=NOW_MS)
    assert task == the_task(settled, "fan")
    assert task is not None
    assert (task.items_run, task.child_count, task.expanded) == (2, None, None)
    assert (task.definition_version, task.max_attempts) == (9, 1)


def test_a_job_is_opened_without_items_that_are_made_anew(settled: Backend) -> None:
    job = begun(settled)
    for _ in range(2):
        opened = settled.redriving.open(job, now_ms=NOW_MS, fewer_tasks=2)
        assert opened is not None
        assert opened.total_tasks == job.total_tasks - 2
