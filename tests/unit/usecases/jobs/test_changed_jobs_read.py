"""What a job's view says of its cancellation and of its run."""

from dataclasses import replace

from switchyard.contracts.jobs import JobView
from switchyard.contracts.wire import instant
from switchyard.usecases.jobs.read_jobs import read_job, read_task
from tests.fakes.harnesses.changed_harness import ChangedHarness
from tests.fakes.harnesses.job_harness import FAILED
from tests.fakes.task_files import files_of


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


def test_a_failed_task_says_since_when_it_could_run_and_what_kind_of_error_ended_it() -> None:
    harness = ChangedHarness()
    harness.start({"a": []})
    harness.settle("a", replace(FAILED, error_category="validation"))

    memory = harness.memory
    files = files_of(memory)
    job = harness.job
    shown = read_task(
        job.tenant, job.job_id, "a", graph=memory.graph, payloads=memory.payloads, files=files
    )

    assert shown.error_category == "validation"
    assert shown.ready_at is not None
    assert shown.started_at is not None
    assert shown.ready_at <= shown.started_at
