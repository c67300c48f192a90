"""Tasks that join a job under way."""

import pytest

from switchyard.contracts.events import JobTasksAdded
from switchyard.contracts.jobs import AddTasks, TasksAdded
from switchyard.domain.errors import Conflict, InvalidJob, NotNow, UnknownJob
from switchyard.domain.ids import END, JobRef
from switchyard.domain.states import JobState, TaskState
from switchyard.usecases.jobs.read_jobs import read_job, read_task
from tests.builders import JOB, TENANT
from tests.fakes.harnesses.growing_harness import AddingHarness, an_addition
from tests.fakes.harnesses.job_harness import FAILED
from tests.fakes.task_files import files_of

CHAIN: dict[str, list[str]] = {"a": [], "b": ["a"]}


@pytest.fixture
def harness() -> AddingHarness:
    harness = AddingHarness()
    harness.start(CHAIN)
    return harness


def problems(harness: AddingHarness, edges: dict[str, list[str]]) -> list[str]:
    before = harness.memory.jobs.picture(harness.job)
    with pytest.raises(InvalidJob) as refused:
        harness.add(edges)
    assert harness.memory.jobs.picture(harness.job) == before
    return [str(problem) for problem in refused.value.problems]


def test_the_answer_names_what_was_added_and_what_may_run(harness: AddingHarness) -> None:
    answer = harness.add({"c": [], "d": ["b", "c"]})
    assert answer == TasksAdded(
        job_id=harness.job.job_id,
        added_tasks=("c", "d"),
        immediately_ready=("c",),
        total_tasks_now=4,
    )


def test_an_added_task_waits_for_old_and_new_parents(harness: AddingHarness) -> None:
    harness.add({"c": [], "d": ["b", "c"]})
    harness.run("a", "b")
    assert harness.state("d") is TaskState.WAITING
    harness.run("c", "d")
    assert harness.job_state() is JobState.COMPLETED


def test_the_job_does_not_end_before_what_was_added(harness: AddingHarness) -> None:
    harness.add({"c": []})
    harness.run("a", "b")
    assert harness.job_state() is JobState.OPEN
    harness.run("c")
    assert harness.job_state() is JobState.COMPLETED


def test_what_joins_may_be_read_like_the_rest(harness: AddingHarness) -> None:
    harness.add({"c": ["a"], "d": ["c"]})
    view = read_job(TENANT, harness.job.job_id, jobs=harness.memory.jobs)
    assert view.total_tasks == 4
    assert {t.task_id: t.depends_on for t in view.tasks} == {
        "a": (),
        "b": ("a",),
        "c": ("a",),
        "d": ("c",),
    }
    task = read_task(
        TENANT,
        harness.job.job_id,
        "c",
        graph=harness.memory.graph,
        payloads=harness.memory.payloads,
        files=files_of(harness.memory),
    )
    assert (task.input, task.depends_on, task.definition_version) == ({"for": "c"}, ("a",), 1)


def test_a_task_whose_parents_have_settled_may_run_at_once(harness: AddingHarness) -> None:
    harness.run("a")
    assert harness.add({"c": ["a"]}).immediately_ready == ("c",)
    harness.work_off()
    assert harness.state("c") is TaskState.QUEUED


def test_a_task_that_can_never_run_is_skipped_and_emitted(harness: AddingHarness) -> None:
    harness.add({"meanwhile": []})
    harness.run("a", outcome=FAILED)
    assert harness.add({"c": ["a"], "d": ["c"]}).immediately_ready == ()
    assert harness.state("c") is TaskState.SKIPPED
    assert harness.emitted()["Task Skipped"] == 2  # b has been, too
    harness.wake("c")
    assert harness.state("d") is TaskState.SKIPPED


def test_an_addition_is_emitted_with_the_added_tasks(harness: AddingHarness) -> None:
    harness.clock.advance(7)
    harness.add({"c": ["a"]})
    (event,) = [e for e in harness.memory.bus.events if isinstance(e.properties, JobTasksAdded)]
    emitted = event.properties
    assert isinstance(emitted, JobTasksAdded)
    assert (emitted.chunk, emitted.previous_total_tasks, emitted.total_tasks_now) == (1, 2, 3)
    (task,) = emitted.new_tasks
    assert (task.task_id, task.name, task.depends_on, task.input) == (
        "c",
        "scrape",
        ("a",),
        {"for": "c"},
    )
    assert event.timestamp == harness.clock.now_ms()


def test_following_an_addition_emits_the_same_event_again(harness: AddingHarness) -> None:
    harness.add({"c": []})
    harness.run("c")
    events = [e for e in harness.memory.bus.events if isinstance(e.properties, JobTasksAdded)]
    first, again = events
    assert first == again


def test_each_addition_is_an_event_of_its_own(harness: AddingHarness) -> None:
    harness.add({"c": []})
    harness.add({"d": []})
    assert harness.emitted()["Job Tasks Added"] == 2


def test_every_problem_is_listed(harness: AddingHarness) -> None:
    assert problems(harness, {"b": []}) == ["tasks.0.taskId: the job has a task 'b' already"]
    assert problems(harness, {}) == ["tasks: there is nothing to add"]
    assert problems(harness, {"c": ["x"], "__d": [END]}) == [
        "tasks.1.taskId: '__d': ids beginning with __ are reserved",
        "tasks.0.dependsOn: 'c' depends on 'x', which does not exist",
        "tasks.1.dependsOn: '__d' depends on '__end__', which does not exist",
    ]
    (cycle,) = problems(harness, {"c": ["d"], "d": ["c"]})
    assert "form a cycle" in cycle


def test_a_definition_has_to_be_registered(harness: AddingHarness) -> None:
    with pytest.raises(InvalidJob, match=r"tasks\.0\.name: 'paint' is not a registered"):
        harness.adder.add(harness.job, an_addition({"c": []}, name="paint"))


def test_a_reference_may_name_old_and_new_ancestors_and_nobody_else(harness: AddingHarness) -> None:
    request = an_addition({"c": ["b"], "d": ["c"]}, given="${tasks.a.output} ${tasks.b.output.x}")
    assert harness.adder.add(harness.job, request).added_tasks == ("c", "d")
    with pytest.raises(InvalidJob, match=r"on which 'e' does not depend"):
        harness.adder.add(harness.job, an_addition({"e": ["a"]}, given="${tasks.b.output}"))


def test_the_limits_are_those_of_the_whole_job(
    harness: AddingHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("switchyard.domain.jobs.limits.MAX_TASKS", 3)
    assert "this one 4" in problems(harness, {"c": [], "d": []})[0]
    assert harness.add({"c": []}).total_tasks_now == 3


def test_an_unknown_job_takes_nothing(harness: AddingHarness) -> None:
    with pytest.raises(UnknownJob):
        harness.adder.add(JobRef("other", harness.job.job_id), an_addition({"c": []}))


def test_a_job_that_has_ended_takes_nothing(harness: AddingHarness) -> None:
    harness.run("a", "b")
    with pytest.raises(Conflict, match="has already ended: it is completed"):
        harness.add({"c": []})


def test_a_job_whose_last_task_has_settled_is_completing(harness: AddingHarness) -> None:
    harness.run("a")
    harness.settle_only("b")
    harness.decide_end()
    with pytest.raises(Conflict, match="is already completing"):
        harness.add({"c": []})


@pytest.mark.parametrize(
    ("facts", "words", "passes"),
    [
        ({"state": JobState.WRITING}, "still being written", True),
        ({"state": JobState.CANCELLING}, "being cancelled", False),
        ({"cancel_requested": True}, "being cancelled", False),
        ({"state": JobState.REDRIVING}, "being redriven", True),
        ({"redrive_key": "k"}, "being redriven", True),
    ],
)
def test_a_job_that_is_being_changed_takes_nothing(
    harness: AddingHarness, facts: dict[str, object], words: str, passes: bool
) -> None:
    harness.become(**facts)
    with pytest.raises(Conflict, match=words) as refused:
        harness.add({"c": []})
    assert isinstance(refused.value, NotNow) is passes


def test_a_request_of_another_tenant_is_unknown() -> None:
    with pytest.raises(UnknownJob):
        AddingHarness().adder.add(JOB, AddTasks(tasks=()))
