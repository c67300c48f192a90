"""What a job's view says of its cancellation and of its run."""

from switchyard.contracts.jobs import JobView
from switchyard.contracts.wire import instant
from switchyard.usecases.jobs.read_jobs import read_job
from tests.fakes.harnesses.changed_harness import ChangedHarness
from tests.fakes.harnesses.job_harness import FAILED


def view(harness: ChangedHarness) -> JobView:
    return read_job(harness.job.tenant, harness.job.job_id, jobs=harness.memory.jobs)


def test_a_task_whose_cancellation_was_asked_for_says_so_and_others_say_nothing() -> None:
    harness = ChangedHarness()
    harness.start({"a": [], "b": []})
    harness.claim("a")

    harness.cancels.cancel_task(harness.job.task("a"))

    found = view(harness)
    assert {t.task_id: t.cancel_requested for t in found.tasks} == {"a": True, "b": None}
    written = {t["taskId"]: t for t in found.model_dump(by_alias=True)["tasks"]}
    assert "cancelRequested" not in written["b"]


def test_a_run_after_the_first_says_when_it_began() -> None:
    harness = ChangedHarness()
    harness.start({"a": []})
    harness.settle("a", FAILED)
    harness.deliver()
    assert "reopenedAt" not in view(harness).model_dump(by_alias=True)
    harness.redrive()
    prepared = view(harness)
    assert (prepared.status, prepared.run) == ("processing", 1)
    assert prepared.completed_at is not None

    harness.deliver()

    found = view(harness)
    assert (found.run, found.completed_at) == (2, None)
    assert found.reopened_at == instant(harness.the_job().reopened_at_ms) is not None
