"""What a producer is told of the files of a task."""

from switchyard.adapters.memory import ManualClock, MemoryYard
from switchyard.contracts.jobs import TaskView
from switchyard.domain.states import TaskState
from switchyard.domain.tasks.task import Outcome, Payload
from switchyard.usecases.jobs.read_jobs import read_task
from tests.builders import JOB, TENANT, a_task
from tests.fakes.task_files import files_of

PREFIX = "task/logs/job-1__a/2/"


def view_in(yard: MemoryYard, *, artifacts: str | None = PREFIX, output: str = "x") -> TaskView:
    outcome = Outcome(state=TaskState.FAILED, artifacts=artifacts, error="boom")
    task = a_task("a", state=TaskState.FAILED, outcome=outcome, attempt=2)
    yard.state.tasks[task.ref] = task
    yard.state.payloads[task.ref] = Payload(output=output)
    files = files_of(yard)
    return read_task(TENANT, JOB.job_id, "a", graph=yard.graph, payloads=yard.payloads, files=files)


def a_yard(*keys: str) -> MemoryYard:
    yard = MemoryYard(ManualClock())
    for key in keys:
        yard.blobs.put(key, key.encode(), content_type="text/plain")
    return yard


def test_each_file_of_the_attempt_has_a_link_that_reads_it() -> None:
    yard = a_yard(f"{PREFIX}logs/agent.log", f"{PREFIX}artifacts/a b.html", f"{PREFIX}traces/x")
    files = view_in(yard).files
    assert [(file.name, file.content_type) for file in files] == [
        ("artifacts/a b.html", "text/plain; charset=utf-8"),
        ("logs/agent.log", "text/plain; charset=utf-8"),
        ("traces/x", "application/octet-stream"),
    ]
    for file in files:
        content = yard.links.followed(file.url)
        assert (content, file.size) == (f"{PREFIX}{file.name}".encode(), len(content))


def test_files_of_other_attempts_and_tasks_are_left_out() -> None:
    yard = a_yard("task/logs/job-1__a/1/x", "task/logs/job-1__a/20/x", "task/logs/job-1__ab/2/x")
    assert view_in(yard).files == ()


def test_a_task_without_files_asks_for_none() -> None:
    view = view_in(a_yard("task/logs/x"), artifacts=None)
    assert (view.files, view.artifacts) == ((), None)
    assert (view.attempt, view.max_attempts, view.error) == (2, 3, "boom")


def test_a_link_lasts_a_quarter_of_an_hour() -> None:
    (file,) = view_in(a_yard(f"{PREFIX}x")).files
    assert file.url.startswith("memory://900/")


def test_an_output_without_room_in_the_answer_has_a_link() -> None:
    yard = a_yard(f"{PREFIX}artifacts/task-result.json")
    view = view_in(yard, output="o" * 6_000_000)
    assert view.output is None
    assert view.output_url is not None
    assert yard.links.followed(view.output_url) == f"{PREFIX}artifacts/task-result.json".encode()


def test_many_files_take_room_from_the_data() -> None:
    yard = a_yard(*(f"{PREFIX}artifacts/{number:03}{'n' * 600}" for number in range(200)))
    assert view_in(yard, output="o" * 5_400_000).output_url is not None
    assert view_in(a_yard(), output="o" * 5_400_000).output_url is None
