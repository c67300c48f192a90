"""The contract of `TaskAdditions`."""

from dataclasses import replace

import pytest

from switchyard.domain.errors import UnknownJob
from switchyard.domain.ids import END, START, JobRef
from switchyard.domain.jobs.chunk_plan import plan_chunk
from switchyard.domain.jobs.chunks import Chunk
from switchyard.domain.jobs.limits import MAX_NAMES
from switchyard.domain.jobs.plan import Pinned
from switchyard.domain.states import TaskState
from tests.builders import JOB, NOW_MS, a_plan
from tests.contract.conftest import Backend
from tests.contract.jobs.growing_job import (
    COMPLETED,
    LATER,
    a_chunk,
    a_group,
    claim,
    found,
    open_job,
    picture,
    settle,
)


@pytest.fixture
def opened(backend: Backend) -> Backend:
    open_job(backend)
    return backend


def test_what_surrounds_a_chunk_is_read(opened: Backend) -> None:
    seen = opened.additions.chunk_context(JOB, {"next", "nobody"})
    assert (seen.job, seen.end) == (picture(opened).job, found(opened, END))
    assert list(seen.existing_tasks) == ["next"]
    assert seen.existing_tasks["next"].task == found(opened, "next")
    assert seen.existing_tasks["next"].dependents == ("last",)


def test_a_job_that_does_not_exist_has_no_surroundings(opened: Backend) -> None:
    with pytest.raises(UnknownJob):
        opened.additions.chunk_context(JobRef("other", JOB.job_id), set())


def test_everything_of_a_chunk_is_there_at_once(opened: Backend) -> None:
    before = picture(opened).job
    chunk = a_chunk(opened, {"new": ["next", "done"], "newer": ["new"]}, new={"n": 1.5})
    assert opened.additions.add(chunk)
    after = picture(opened)
    assert after.job == replace(before, total_tasks=6, additions=1)
    assert found(opened, END).waiting_on == {"done@1", "last@1", "lost@1", "__added-1@1"}
    for task in chunk.new_tasks:
        assert opened.graph.find(task.ref) == task
    edges = opened.graph.edges_from([JOB.task(n) for n in ("next", "done", "new", "__added-1")])
    assert edges == {
        "next": ("last", "new"),
        "done": (END, "new"),
        "new": ("newer",),
        "__added-1": (END,),
    }
    assert after.depends_on["new"] == ("done", "next")
    payload = opened.payloads.read(JOB.task("new"))
    assert (payload.input, payload.depends_on) == ({"n": 1.5}, ("next", "done"))
    assert opened.payloads.read(JOB.task("__added-1")) == chunk.added.payload()


def test_a_task_that_is_decided_at_once_is_stored_as_decided(opened: Backend) -> None:
    chunk = a_chunk(opened, {"free": [], "after": ["done"], "never": ["lost"]})
    assert opened.additions.add(chunk)
    free, after, never = (found(opened, name) for name in ("free", "after", "never"))
    assert (free.state, after.state) == (TaskState.READY, TaskState.READY)
    assert (free.ready_at_ms, never.settled_at_ms) == (LATER, LATER)
    assert never.outcome is not None
    assert (never.state, never.outcome.error) == (TaskState.SKIPPED, "did not complete: lost")
    assert {task.ref.task_id: task for task in chunk.tasks} == {
        "free": free,
        "after": after,
        "never": never,
    }


def test_a_large_input_comes_back(opened: Backend) -> None:
    assert opened.additions.add(a_chunk(opened, {"new": []}, new="x" * 50_000))
    assert opened.payloads.read(JOB.task("new")).input == "x" * 50_000


def test_the_same_chunk_is_added_once(opened: Backend) -> None:
    chunk = a_chunk(opened, {"new": ["next"]})
    assert opened.additions.add(chunk)
    after = picture(opened)
    assert opened.additions.add(chunk)
    assert picture(opened) == after


def test_of_two_under_the_same_number_the_second_is_refused(opened: Backend) -> None:
    one, other = a_chunk(opened, {"one": []}), a_chunk(opened, {"other": []})
    assert opened.additions.add(one)
    after = picture(opened)
    assert not opened.additions.add(other)
    assert picture(opened) == after


def test_who_runs_a_parent_may_go_on_meanwhile(opened: Backend) -> None:
    chunk = a_chunk(opened, {"new": ["next"]})
    claim(opened, "next")
    assert opened.additions.add(chunk)


def test_the_end_may_meanwhile_wait_for_fewer(opened: Backend) -> None:
    chunk = a_chunk(opened, {"new": []})
    opened.graph.remove_edges(JOB.task(END), {"done@1": True})
    assert opened.additions.add(chunk)
    assert found(opened, END).waiting_on == {"last@1", "lost@1", "__added-1@1"}


@pytest.fixture
def crowded(backend: Backend) -> Backend:
    """Nobody more has room before `__end__`; of those who stand there two are enough."""
    plan = a_plan({f"sink-{n:03}": [] for n in range(MAX_NAMES)})
    stored = {START, END, "sink-000", "sink-001"}
    small = replace(
        plan,
        tasks=tuple(task for task in plan.tasks if task.ref.task_id in stored),
        dependents={name: after for name, after in plan.dependents.items() if name in stored},
        payloads={name: payload for name, payload in plan.payloads.items() if name in stored},
    )
    backend.intake.write(small)
    backend.intake.open(small, now_ms=NOW_MS)
    return backend


def a_moving_chunk(backend: Backend, edges: dict[str, list[str]]) -> Chunk:
    group = a_group(edges)
    seen = backend.additions.chunk_context(JOB, group.parents | {"sink-000", "sink-001"})
    chunk = plan_chunk(group, seen, pinned={"scrape": Pinned(1)}, at_ms=LATER)
    assert chunk is not None
    return chunk


@pytest.mark.parametrize("parents", [[], ["sink-000"]])
def test_a_relay_takes_the_place_of_another_before_a_crowded_end(
    crowded: Backend, parents: list[str]
) -> None:
    assert crowded.additions.add(a_moving_chunk(crowded, {"new": parents}))
    end, relay = found(crowded, END), found(crowded, "__added-1")
    assert len(end.waiting_on) == MAX_NAMES
    assert "__added-1@1" in end.waiting_on
    assert "sink-000@1" not in end.waiting_on
    assert relay.waiting_on == {"new@1", "sink-000@1"}
    edges = crowded.graph.edges_from([JOB.task("sink-000")])
    assert edges == {"sink-000": ("__added-1", *(["new"] if parents else []))}


def test_a_crowded_end_has_to_wait_for_exactly_what_was_read(crowded: Backend) -> None:
    chunk = a_moving_chunk(crowded, {"new": []})
    crowded.graph.remove_edges(JOB.task(END), {"sink-099@1": True})
    before = picture(crowded)
    assert not crowded.additions.add(chunk)
    assert picture(crowded) == before


def test_a_task_that_settled_meanwhile_is_not_changed(crowded: Backend) -> None:
    chunk = a_moving_chunk(crowded, {"new": []})
    settle(crowded, "sink-000", COMPLETED)
    assert not crowded.additions.add(chunk)


def test_nothing_of_another_tenant_changes(opened: Backend) -> None:
    other = replace(JOB, tenant="other")
    plan = a_plan({"next": []}, job=other)
    opened.intake.write(plan)
    opened.intake.open(plan, now_ms=NOW_MS)
    before = opened.jobs.picture(other)
    assert opened.additions.add(a_chunk(opened, {"new": ["next"]}))
    assert opened.jobs.picture(other) == before
