"""Which tasks are added together, and what is written for them."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from switchyard.domain.errors import Conflict
from switchyard.domain.ids import END
from switchyard.domain.jobs.additions import MOST_PARENTS, WRITES_PER_CHUNK, Group, grouped
from switchyard.domain.jobs.chunk_plan import plan_chunk
from switchyard.domain.jobs.chunks import AddedTasks, Chunk, ChunkContext, ExistingTask
from switchyard.domain.jobs.limits import MAX_NAMES, MAX_WITH_ITEMS, MOST_DEPENDENTS
from switchyard.domain.jobs.plan import Pinned, hidden_task
from switchyard.domain.jobs.relays import declared_parents
from switchyard.domain.states import JobState, TaskState
from switchyard.domain.tasks import due, edge_transitions
from switchyard.domain.tasks.readiness import FAILURE
from switchyard.domain.tasks.task import Outcome, Task, edge_token, parent_of
from switchyard.domain.transition import applied
from tests.builders import JOB, NOW_MS, a_plan, a_task, specs

Edges = dict[str, list[str]]

OLD = [f"old-{n}" for n in range(200)]
SETTLED = Outcome(state=TaskState.FAILED, error="boom")


@st.composite
def additions(draw: st.DrawFn) -> Edges:
    """Some follow few, some follow many; none follows one that comes after it."""
    edges: Edges = {}
    for number in range(draw(st.integers(1, 40))):
        choice = [*OLD, *edges]
        many = draw(st.sampled_from([0, 1, 2, 30, 60, 150]))
        first = draw(st.integers(0, len(choice) - 1))
        edges[f"new-{number}"] = (choice[first:] + choice[:first])[:many]
    return edges


def seen(
    *existing_tasks: ExistingTask, additions: int = 0, before_the_end: Sequence[str] = OLD[:1]
) -> ChunkContext:
    job = replace(a_plan({"old": []}).job, state=JobState.OPEN, additions=additions)
    return ChunkContext(
        job=job,
        end=hidden_task(JOB.task(END), [edge_token(name, 1) for name in before_the_end]),
        existing_tasks={existing.task.ref.task_id: existing for existing in existing_tasks},
    )


def a_member(task_id: str, *dependents: str, **facts: object) -> ExistingTask:
    return ExistingTask(a_task(task_id, **facts), dependents or (END,))


def planned(group: Group, chunk_context: ChunkContext) -> Chunk:
    chunk = plan_chunk(group, chunk_context, pinned={"scrape": Pinned(3, 2)}, at_ms=NOW_MS)
    assert chunk is not None
    return chunk


def end_waits_on(chunk: Chunk) -> frozenset[str]:
    relayed = edge_transitions.follow_relay(chunk.end, chunk.relay, instead_of=chunk.moved)
    return applied(chunk.end, relayed).waiting_on


def the_group(edges: Edges) -> Group:
    (group,) = grouped(specs(edges), number=1)
    return group


def the_task(edges: Edges, *existing_tasks: ExistingTask) -> Task:
    (task,) = planned(the_group(edges), seen(*existing_tasks)).tasks
    return task


def all_chunks(edges: Edges, before_the_end: Sequence[str]) -> list[Chunk]:
    """Return all chunks as if nothing settled in between."""
    known = {name: a_member(name) for name in OLD}
    chunks: list[Chunk] = []
    for group in grouped(specs(edges), number=1):
        chunk_context = seen(*known.values(), additions=len(chunks), before_the_end=before_the_end)
        chunk = planned(group, chunk_context)
        new = [ExistingTask(t, chunk.dependents[t.ref.task_id]) for t in chunk.new_tasks]
        changed = [ExistingTask(c.existing.task, c.dependents) for c in chunk.changes]
        known |= {existing.task.ref.task_id: existing for existing in [*new, *changed]}
        before_the_end = [parent_of(token) for token in end_waits_on(chunk)]
        chunks.append(chunk)
    return chunks


def writes(chunk: Chunk) -> int:
    """The job and `__end__`, everything new, and two for each task that is there."""
    new = len(chunk.new_tasks) + len(chunk.dependents) + len(chunk.payloads)
    return 2 + new + 2 * len(chunk.changes)


@pytest.mark.slow
@pytest.mark.parametrize("before_the_end", [OLD[:1], OLD[:MAX_NAMES]], ids=["free", "crowded"])
@settings(max_examples=30, deadline=None)
@given(edges=additions())
def test_every_chunk_fits_into_a_transaction(edges: Edges, before_the_end: list[str]) -> None:
    for chunk in all_chunks(edges, before_the_end):
        assert writes(chunk) <= WRITES_PER_CHUNK
        assert all(len(task.waiting_on) <= MAX_NAMES for task in chunk.new_tasks)
        assert len(end_waits_on(chunk)) <= MAX_NAMES


@settings(max_examples=30, deadline=None)
@given(edges=additions())
def test_everybody_comes_once_and_after_its_parents(edges: Edges) -> None:
    there = set(OLD)
    for group in grouped(specs(edges), number=1):
        for newcomer in group.newcomers:
            assert newcomer.task_id not in there
            assert set(newcomer.parents) <= there
            assert len(newcomer.parents) <= MOST_PARENTS
            there.add(newcomer.task_id)
    assert there.issuperset(edges)


@pytest.mark.slow
@settings(max_examples=30, deadline=None)
@given(edges=additions())
def test_who_follows_whom_is_what_was_declared(edges: Edges) -> None:
    dependents: dict[str, tuple[str, ...]] = {}
    for chunk in all_chunks(edges, OLD[:1]):
        dependents |= chunk.dependents
        dependents |= {c.existing.task.ref.task_id: c.dependents for c in chunk.changes}
    declared = declared_parents(dependents)
    assert {name: set(declared.get(name, ())) for name in edges} == {
        name: set(parents) for name, parents in edges.items()
    }


def test_relays_for_other_tasks_have_other_names() -> None:
    def relays(name: str) -> set[str]:
        groups = grouped(specs({name: OLD}), number=7)
        return {n.task_id for group in groups for n in group.newcomers if n.spec is None}

    assert all(relay.startswith("__relay-7-") for relay in relays("a"))
    assert not relays("a") & relays("b")


def test_a_task_without_parents_is_ready() -> None:
    task = the_task({"new": []})
    assert (task.state, task.ready_at_ms, task.fence) == (TaskState.READY, NOW_MS, 1)
    assert task.due_at_ms == NOW_MS + due.AFTER_READY
    assert (task.definition_version, task.max_attempts) == (3, 2)


def test_a_task_waits_for_this_run_of_those_that_have_not_settled() -> None:
    lost = a_member("lost", state=TaskState.FAILED, outcome=SETTLED)
    done = a_member("done", state=TaskState.COMPLETED)
    task = the_task({"new": ["runs", "lost", "done"]}, a_member("runs", run=4), lost, done)
    assert task.state is TaskState.WAITING
    assert task.waiting_on == {"runs@4"}
    assert task.not_completed == {"lost"}
    assert task.due_at_ms is None


def test_a_task_whose_parents_have_all_settled_is_decided_by_its_rule() -> None:
    lost = a_member("lost", state=TaskState.FAILED, outcome=SETTLED)
    task = the_task({"new": ["lost"]}, lost)
    assert task.state is TaskState.SKIPPED
    assert task.due_at_ms == NOW_MS + due.AFTER_SETTLING


def test_a_relay_whose_parents_have_all_settled_passes_that_on() -> None:
    lost = [a_member(name, state=TaskState.FAILED, outcome=SETTLED) for name in OLD]
    first = grouped(specs({"new": OLD}), number=1)[0]
    relay = planned(first, seen(*lost)).tasks[0]
    assert relay.ref.relay
    assert relay.outcome is not None
    assert (relay.state, relay.outcome.error_category) == (TaskState.NOT_COMPLETED, FAILURE)
    assert relay.due_at_ms is not None


def test_the_relay_of_a_chunk_waits_for_those_whom_nobody_in_it_follows() -> None:
    chunk = planned(the_group({"a": [], "b": ["a"], "c": []}), seen(additions=4))
    assert chunk.relay.ref.task_id == "__added-5"
    assert chunk.relay.waiting_on == {"b@1", "c@1"}
    assert chunk.dependents == {
        "a": ("b",),
        "b": ("__added-5",),
        "c": ("__added-5",),
        "__added-5": (END,),
    }
    assert chunk.number == 5


def test_settled_parents_get_their_new_children() -> None:
    """Redriven, they take their descendants along."""
    done = a_member("done", state=TaskState.COMPLETED)
    (change,) = planned(the_group({"new": ["done"]}), seen(done)).changes
    assert change.dependents == (END, "new")


def test_before_a_crowded_end_the_oldest_chunk_is_moved_first() -> None:
    added = [f"__added-{n}" for n in range(1, MAX_NAMES + 1)]
    known = [a_member(name) for name in ("__added-9", "__added-10", "__added-11")]
    known[0] = replace(known[0], task=replace(known[0].task, state=TaskState.COMPLETED))
    chunk = planned(the_group({"new": []}), seen(*known, before_the_end=added))
    assert chunk.moved == known[1].task
    assert chunk.relay.waiting_on == {"new@1", "__added-10@1"}


def test_a_crowded_end_whose_every_candidate_has_settled_has_room_soon() -> None:
    done = a_member("old-0", state=TaskState.COMPLETED)
    chunk_context = seen(done, before_the_end=OLD[:MAX_NAMES])
    group = the_group({"new": []})
    assert plan_chunk(group, chunk_context, pinned={"scrape": Pinned(1)}, at_ms=NOW_MS) is None


def test_one_task_is_not_followed_by_too_many() -> None:
    full = a_member("full", *(f"d-{n}" for n in range(MOST_DEPENDENTS)))
    with pytest.raises(Conflict, match="'full' would be followed by more than 1,000 tasks"):
        planned(the_group({"new": ["full"]}), seen(full))


def test_a_job_that_others_have_filled_meanwhile_has_no_room() -> None:
    group, read = the_group({"new": [], "newer": []}), seen()
    room_for_two, room_for_one = (
        replace(read, job=replace(read.job, total_tasks=MAX_WITH_ITEMS - left)) for left in (2, 1)
    )
    assert planned(group, room_for_two).added.total == MAX_WITH_ITEMS
    with pytest.raises(Conflict, match="more than 20,000 tasks"):
        planned(group, room_for_one)


def test_a_task_that_another_request_added_meanwhile_is_a_conflict() -> None:
    with pytest.raises(Conflict, match="has a task 'new' already"):
        planned(the_group({"new": []}), seen(a_member("new")))


def test_what_a_chunk_remembers_comes_back() -> None:
    added = AddedTasks(task_ids=("a", "b"), previous_total=3, job_run=2, at_ms=NOW_MS)
    assert AddedTasks.of(added.payload()) == added
    assert added.total == 5
