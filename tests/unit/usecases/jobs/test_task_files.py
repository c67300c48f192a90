"""The files of a task, as a producer gets them."""

from switchyard.contracts.jobs import TaskView
from switchyard.domain.states import TaskState
from switchyard.domain.tasks.task import Outcome, Payload
from switchyard.testing import ManualClock, MemoryHarness
from switchyard.usecases.jobs.read_jobs import read_task
from tests.builders import JOB, TENANT, a_task
from tests.fakes.task_files import files_of

PREFIX = "task/logs/job-1__a/2/"


def view_in(
    harness: MemoryHarness, *, artifacts: str | None = PREFIX, output: str = "x"
) -> TaskView:
    outcome = Outcome(state=TaskState.FAILED, artifacts=artifacts, error="boom")
    task = a_task("a", state=TaskState.FAILED, outcome=outcome, attempt=2)
    harness.state.tasks[task.ref] = task
    harness.state.payloads[task.ref] = Payload(output=output)
    files = files_of(harness)
    return read_task(
        TENANT, JOB.job_id, "a", graph=harness.graph, payloads=harness.payloads, files=files
    )


def a_harness(*keys: str) -> MemoryHarness:
    harness = MemoryHarness(ManualClock())
    for key in keys:
        harness.blobs.put(key, key.encode(), content_type="text/plain")
    return harness


def test_each_file_of_the_attempt_has_a_link_that_reads_it() -> None:
    harness = a_harness(
        f"{PREFIX}logs/agent.log", f"{PREFIX}artifacts/a b.html", f"{PREFIX}traces/x"
    )
    files = view_in(harness).files
    assert [(file.name, file.content_type) for file in files] == [
        ("artifacts/a b.html", "text/plain; charset=utf-8"),
        ("logs/agent.log", "text/plain; charset=utf-8"),
        ("traces/x", "application/octet-stream"),
    ]
    for file in files:
        content = harness.links.followed(file.url)
        assert (content, file.size) == (f"{PREFIX}{file.name}".encode(), len(content))


def test_files_of_other_attempts_and_tasks_are_left_out() -> None:
    harness = a_harness(
        "task/logs/job-1__a/1/x", "task/logs/job-1__a/20/x", "task/logs/job-1__ab/2/x"
    )
    assert view_in(harness).files == ()


def test_a_task_without_files_asks_for_none() -> None:
    view = view_in(a_harness("task/logs/x"), artifacts=None)
    assert (view.files, view.artifacts) == ((), None)
    assert (view.attempt, view.max_attempts, view.error) == (2, 3, "boom")


def test_a_link_lasts_a_quarter_of_an_hour() -> None:
    (file,) = view_in(a_harness(f"{PREFIX}x")).files
    assert file.url.startswith("memory://link/")


def test_an_output_without_room_in_the_answer_has_a_link() -> None:
    harness = a_harness(f"{PREFIX}artifacts/task-result.json")
    view = view_in(harness, output="o" * 6_000_000)
    assert view.output is None
    assert view.output_url is not None
    assert harness.links.followed(view.output_url) == f"{PREFIX}artifacts/task-result.json".encode()


def test_many_files_take_room_from_the_data() -> None:
    harness = a_harness(*(f"{PREFIX}artifacts/{number:03}{'n' * 600}" for number in range(200)))
    assert view_in(harness, output="o" * 5_400_000).output_url is not None
    assert view_in(a_harness(), output="o" * 5_400_000).output_url is None
