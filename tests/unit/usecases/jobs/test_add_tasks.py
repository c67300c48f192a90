"""Tasks that join a job under way."""

import pytest

from switchyard.contracts.events import JobTasksAdded
from switchyard.contracts.jobs import AddTasks, TasksAdded
from switchyard.domain.errors import Conflict, InvalidJob, NotNow, UnknownJob
from switchyard.domain.ids import END, JobRef
from switchyard.domain.states import JobState, TaskState
from switchyard.usecases.jobs.read_jobs import read_job, read_task
from tests.builders import JOB, TENANT
from tests.fakes.adding import AddingYard, an_addition
from tests.fakes.task_files import files_of
from tests.fakes.yard import FAILED

CHAIN: dict[str, list[str]] = {"a": [], "b": ["a"]}


@pytest.fixture
def yard() -> AddingYard:
    yard = AddingYard()
    yard.start(CHAIN)
    return yard


def problems(yard: AddingYard, edges: dict[str, list[str]]) -> list[str]:
    before = yard.memory.jobs.picture(yard.job)
    with pytest.raises(InvalidJob) as refused:
        yard.add(edges)
    assert yard.memory.jobs.picture(yard.job) == before
    return [str(problem) for problem in refused.value.problems]


def test_the_answer_names_what_was_added_and_what_may_run(yard: AddingYard) -> None:
    answer = yard.add({"c": [], "d": ["b", "c"]})
    assert answer == TasksAdded(
        job_id=yard.job.job_id,
        added_tasks=("c", "d"),
        immediately_ready=("c",),
        total_tasks_now=4,
    )


def test_an_added_task_waits_for_old_and_new_parents(yard: AddingYard) -> None:
    yard.add({"c": [], "d": ["b", "c"]})
    yard.run("a", "b")
    assert yard.state("d") is TaskState.WAITING
    yard.run("c", "d")
    assert yard.job_state() is JobState.COMPLETED


def test_the_job_does_not_end_before_what_was_added(yard: AddingYard) -> None:
    yard.add({"c": []})
    yard.run("a", "b")
    assert yard.job_state() is JobState.OPEN
    yard.run("c")
    assert yard.job_state() is JobState.COMPLETED


def test_what_joins_may_be_read_like_the_rest(yard: AddingYard) -> None:
    yard.add({"c": ["a"], "d": ["c"]})
    view = read_job(TENANT, yard.job.job_id, jobs=yard.memory.jobs)
    assert view.total_tasks == 4
    assert {t.task_id: t.depends_on for t in view.tasks} == {
        "a": (),
        "b": ("a",),
        "c": ("a",),
        "d": ("c",),
    }
    task = read_task(
        TENANT,
        yard.job.job_id,
        "c",
        graph=yard.memory.graph,
        payloads=yard.memory.payloads,
        files=files_of(yard.memory),
    )
    assert (task.input, task.depends_on, task.definition_version) == ({"for": "c"}, ("a",), 1)


def test_a_task_whose_parents_have_settled_may_run_at_once(yard: AddingYard) -> None:
    yard.run("a")
    assert yard.add({"c": ["a"]}).immediately_ready == ("c",)
    yard.work_off()
    assert yard.state("c") is TaskState.QUEUED


def test_a_task_that_can_never_run_is_skipped_and_told(yard: AddingYard) -> None:
    yard.add({"meanwhile": []})
    yard.run("a", outcome=FAILED)
    assert yard.add({"c": ["a"], "d": ["c"]}).immediately_ready == ()
    assert yard.state("c") is TaskState.SKIPPED
    assert yard.told()["Task Skipped"] == 2  # b has been, too
    yard.wake("c")
    assert yard.state("d") is TaskState.SKIPPED


def test_adding_is_told_with_what_was_added(yard: AddingYard) -> None:
    yard.clock.advance(7)
    yard.add({"c": ["a"]})
    (event,) = [e for e in yard.memory.bus.events if isinstance(e.properties, JobTasksAdded)]
    told = event.properties
    assert isinstance(told, JobTasksAdded)
    assert (told.chunk, told.previous_total_tasks, told.total_tasks_now) == (1, 2, 3)
    (task,) = told.new_tasks
    assert (task.task_id, task.name, task.depends_on, task.input) == (
        "c",
        "scrape",
        ("a",),
        {"for": "c"},
    )
    assert event.timestamp == yard.clock.now_ms()


def test_following_what_was_added_tells_the_same_event_again(yard: AddingYard) -> None:
    yard.add({"c": []})
    yard.run("c")
    events = [e for e in yard.memory.bus.events if isinstance(e.properties, JobTasksAdded)]
    first, again = events
    assert first == again


def test_each_addition_is_told_on_its_own(yard: AddingYard) -> None:
    yard.add({"c": []})
    yard.add({"d": []})
    assert yard.told()["Job Tasks Added"] == 2


def test_every_problem_is_listed(yard: AddingYard) -> None:
    assert problems(yard, {"b": []}) == ["tasks.0.taskId: the job has a task 'b' already"]
    assert problems(yard, {}) == ["tasks: there is nothing to add"]
    assert problems(yard, {"c": ["x"], "__d": [END]}) == [
        "tasks.1.taskId: '__d': ids beginning with __ are reserved",
        "tasks.0.dependsOn: 'c' depends on 'x', which does not exist",
        "tasks.1.dependsOn: '__d' depends on '__end__', which does not exist",
    ]
    (cycle,) = problems(yard, {"c": ["d"], "d": ["c"]})
    assert "form a cycle" in cycle


def test_a_definition_has_to_be_registered(yard: AddingYard) -> None:
    with pytest.raises(InvalidJob, match=r"tasks\.0\.name: 'paint' is not a registered"):
        yard.adder.add(yard.job, an_addition({"c": []}, name="paint"))


def test_a_reference_may_name_old_and_new_ancestors_and_nobody_else(yard: AddingYard) -> None:
    request = an_addition({"c": ["b"], "d": ["c"]}, given="${tasks.a.output} ${tasks.b.output.x}")
    assert yard.adder.add(yard.job, request).added_tasks == ("c", "d")
    with pytest.raises(InvalidJob, match=r"on which 'e' does not depend"):
        yard.adder.add(yard.job, an_addition({"e": ["a"]}, given="${tasks.b.output}"))


def test_the_limits_are_those_of_the_whole_job(
    yard: AddingYard, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("switchyard.domain.jobs.graph.MAX_TASKS", 3)
    assert "this one 4" in problems(yard, {"c": [], "d": []})[0]
    assert yard.add({"c": []}).total_tasks_now == 3


def test_an_unknown_job_takes_nothing(yard: AddingYard) -> None:
    with pytest.raises(UnknownJob):
        yard.adder.add(JobRef("other", yard.job.job_id), an_addition({"c": []}))


def test_a_job_that_has_ended_takes_nothing(yard: AddingYard) -> None:
    yard.run("a", "b")
    with pytest.raises(Conflict, match="has already ended: it is completed"):
        yard.add({"c": []})


def test_a_job_whose_last_task_has_settled_is_completing(yard: AddingYard) -> None:
    yard.run("a")
    yard.settle_only("b")
    yard.decide_end()
    with pytest.raises(Conflict, match="is already completing"):
        yard.add({"c": []})


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
    yard: AddingYard, facts: dict[str, object], words: str, passes: bool
) -> None:
    yard.become(**facts)
    with pytest.raises(Conflict, match=words) as refused:
        yard.add({"c": []})
    assert isinstance(refused.value, NotNow) is passes


def test_a_request_of_another_tenant_is_unknown() -> None:
    with pytest.raises(UnknownJob):
        AddingYard().adder.add(JOB, AddTasks(tasks=()))
