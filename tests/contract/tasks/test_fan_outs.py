"""The contract of `FanOuts`."""

from dataclasses import replace

import pytest

from switchyard.domain.fan_out.fan_outs import FanOut
from switchyard.domain.fan_out.items import items_of
from switchyard.domain.fan_out.plan import Expansion, plan_expansion, start_of
from switchyard.domain.ids import START
from switchyard.domain.jobs.graph import TaskSpec
from switchyard.domain.jobs.limits import MAX_WITH_ITEMS
from switchyard.domain.jobs.plan import Pinned, plan_job
from switchyard.domain.states import TaskKind, TaskState
from switchyard.domain.tasks import due
from switchyard.domain.tasks.readiness import Readiness
from switchyard.domain.tasks.task import Outcome, Payload, Task
from tests.builders import JOB, NOW_MS, a_task
from tests.contract.conftest import Backend

T = JOB.task("review")
START_OF_T = start_of(a_task("review"))
FAN_OUT = FanOut(for_each=("${input.items}",), key=("${item}",))
READY = Readiness(TaskState.READY, "all_completed holds")
COMPLETED = Outcome(state=TaskState.COMPLETED)
FAILED = Outcome(state=TaskState.FAILED, error="not a list", error_category="fan_out")
KEY = "task/gathered/acme/review/1-abc.json"


@pytest.fixture
def ready(backend: Backend) -> Task:
    """A fan-out that may run."""
    spec = TaskSpec(task_id="review", name="n", input={"items": ["a", "b"]}, fan_out=FAN_OUT)
    plan = plan_job(JOB, name="job", tags={}, specs=[spec], pinned={"n": Pinned(3)}, now_ms=NOW_MS)
    backend.intake.write(plan)
    backend.intake.open(plan, now_ms=NOW_MS)
    free = backend.graph.remove_edges(T, {f"{START}@1": True})
    return backend.graph.decide(free, READY, now_ms=NOW_MS)


def expansion_of(backend: Backend, task: Task) -> Expansion:
    job = backend.jobs.find(JOB)
    assert job is not None
    given = backend.payloads.read(T).input
    items = items_of(FAN_OUT, given, {}, task_id="review")
    return plan_expansion(job, task, items, template=Payload(), tolerated=True)


@pytest.fixture
def expansion(backend: Backend, ready: Task) -> Expansion:
    """All of it is stored."""
    expansion = expansion_of(backend, ready)
    backend.intake.write_part(expansion.plan)
    return expansion


def test_what_a_fan_out_is_made_of_comes_back(backend: Backend, ready: Task) -> None:
    assert (ready.kind, ready.child_count, ready.expanded) == (TaskKind.FAN_OUT, None, None)
    assert backend.payloads.read(T).fan_out == FAN_OUT.stored()


def test_how_much_is_written_never_goes_back(backend: Backend, ready: Task) -> None:
    assert backend.fan_outs.note_expanded(ready, 0, now_ms=NOW_MS).expanded == 0
    noted = backend.fan_outs.note_expanded(ready, 7, now_ms=NOW_MS + 5)
    assert (noted.expanded, noted.due_at_ms) == (7, NOW_MS + 5 + due.AFTER_READY)
    assert backend.fan_outs.note_expanded(ready, 3, now_ms=NOW_MS).expanded == 7
    other_run = replace(ready, run=2)
    assert backend.fan_outs.note_expanded(other_run, 9, now_ms=NOW_MS).expanded == 7


def test_a_delay_says_why(backend: Backend, ready: Task) -> None:
    backend.fan_outs.delay(replace(ready, run=2), "another", due_at_ms=1)
    backend.fan_outs.delay(ready, "no room", due_at_ms=NOW_MS + 77)
    found = backend.graph.find(T)
    assert found is not None
    assert (found.state, found.last_error, found.due_at_ms) == (
        TaskState.READY,
        "no room",
        NOW_MS + 77,
    )


def test_opening_lets_the_items_run_and_the_fan_out_wait(
    backend: Backend, ready: Task, expansion: Expansion
) -> None:
    assert backend.fan_outs.open(ready, expansion, now_ms=NOW_MS)
    found = backend.graph.find_many([T, START_OF_T, JOB.task("review[a]")])
    task = found["review"]
    assert (task.state, task.child_count, task.due_at_ms) == (TaskState.WAITING, 2, None)
    assert task.waiting_on == {"review[a]@1", "review[b]@1"}
    assert task.fence == ready.fence + 1
    start = found[START_OF_T.task_id]
    assert (start.state, start.due_at_ms) == (TaskState.COMPLETED, NOW_MS + due.AFTER_SETTLING)
    item = found["review[a]"]
    assert (item.state, item.definition, item.tolerated) == (TaskState.WAITING, "n", True)
    assert backend.graph.edges_from([START_OF_T])[START_OF_T.task_id] == (
        "review[a]",
        "review[b]",
    )
    states = backend.jobs.states(JOB)
    assert states.job.total_tasks == 3
    assert {t.ref.task_id for t in states.visible_tasks} == {"review", "review[a]", "review[b]"}
    assert {t.ref.task_id for t in states.declared_tasks} == {"review"}
    picture = backend.jobs.picture(JOB)
    assert dict(picture.depends_on) == {}


def test_opening_again_counts_nothing_twice(
    backend: Backend, ready: Task, expansion: Expansion
) -> None:
    assert backend.fan_outs.open(ready, expansion, now_ms=NOW_MS)
    assert backend.fan_outs.open(ready, expansion, now_ms=NOW_MS + 1)
    assert backend.jobs.states(JOB).job.total_tasks == 3
    backend.fan_outs.note_expanded(ready, 9, now_ms=NOW_MS)
    found = backend.graph.find(T)
    assert found is not None
    assert (found.state, found.expanded) == (TaskState.WAITING, None)


def test_nothing_is_opened_before_it_is_written(backend: Backend, ready: Task) -> None:
    assert not backend.fan_outs.open(ready, expansion_of(backend, ready), now_ms=NOW_MS)
    assert backend.graph.find(T) == ready


@pytest.mark.parametrize("change", ["run", "cancel", "size"])
def test_what_has_changed_is_not_opened(
    backend: Backend, ready: Task, expansion: Expansion, change: str
) -> None:
    task = ready
    if change == "run":
        task = replace(ready, run=2)
    if change == "cancel":
        job = backend.jobs.find(JOB)
        assert job is not None
        assert backend.cancelling.begin(job, now_ms=NOW_MS)
    if change == "size":
        expansion = replace(expansion, child_count=MAX_WITH_ITEMS)
    assert not backend.fan_outs.open(task, expansion, now_ms=NOW_MS)
    found = backend.graph.find_many([T, START_OF_T])
    assert {task.state for task in found.values()} == {TaskState.READY, TaskState.WAITING}
    visible = backend.jobs.picture(JOB).visible_tasks
    assert [task.ref.task_id for task in visible] == ["review"]


def test_what_runs_is_not_written_over(backend: Backend, ready: Task, expansion: Expansion) -> None:
    backend.fan_outs.open(ready, expansion, now_ms=NOW_MS)
    item = JOB.task("review[a]")
    free = backend.graph.remove_edges(item, {f"{START_OF_T.task_id}@1": True})
    moved = backend.graph.decide(free, READY, now_ms=NOW_MS)
    backend.intake.write_part(expansion.plan)
    assert backend.graph.find(item) == moved


def test_a_fan_out_is_gathered_once_with_where_its_output_is(backend: Backend, ready: Task) -> None:
    backend.blobs.put(KEY, b"[1,null]", content_type="application/json")
    ended = backend.fan_outs.gather(ready, COMPLETED, output_key=KEY, now_ms=NOW_MS)
    assert ended is not None
    assert (ended.state, ended.due_at_ms) == (
        TaskState.COMPLETED,
        NOW_MS + due.AFTER_SETTLING,
    )
    assert backend.graph.find(T) == ended
    assert backend.payloads.outputs(JOB, ["review"]) == {"review": [1, None]}
    again = backend.fan_outs.gather(ready, COMPLETED, output_key=KEY, now_ms=NOW_MS + 9)
    assert again == ended
    assert backend.fan_outs.gather(ready, FAILED, output_key=None, now_ms=NOW_MS) is None


def test_a_fan_out_that_was_redriven_or_opened_is_not_gathered(
    backend: Backend, ready: Task, expansion: Expansion
) -> None:
    for other in (replace(ready, run=2), replace(ready, fence=ready.fence + 1)):
        assert backend.fan_outs.gather(other, FAILED, output_key=None, now_ms=NOW_MS) is None
    backend.fan_outs.open(ready, expansion, now_ms=NOW_MS)
    assert backend.fan_outs.gather(ready, FAILED, output_key=None, now_ms=NOW_MS) is None
