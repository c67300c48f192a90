"""A chunk is added to the job it was planned for, or not at all."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from switchyard.domain.ids import END
from switchyard.domain.jobs.chunks import Change, Chunk
from switchyard.domain.jobs.limits import MAX_WITH_ITEMS
from switchyard.domain.states import JobState, TaskState
from switchyard.domain.tasks.readiness import Readiness
from tests.builders import JOB, NOW_MS
from tests.contract.conftest import Backend
from tests.contract.jobs.growing_job import COMPLETED, a_chunk, found, open_job, picture, settle


@pytest.fixture
def opened(backend: Backend) -> Backend:
    open_job(backend)
    return backend


def _settle_the_job(backend: Backend) -> None:
    backend.jobs.settle(picture(backend).job, JobState.FAILED, now_ms=NOW_MS)


def _begin_to_cancel(backend: Backend) -> None:
    backend.cancelling.begin(picture(backend).job, now_ms=NOW_MS)


def _have_cancelled(backend: Backend) -> None:
    _begin_to_cancel(backend)
    backend.cancelling.end(picture(backend).job, now_ms=NOW_MS, cursor="events#")


def _begin_to_redrive(backend: Backend) -> None:
    _settle_the_job(backend)
    backend.redriving.begin(picture(backend).job, key="k", now_ms=NOW_MS)
    backend.redriving.open(picture(backend).job, now_ms=NOW_MS)


def _decide_the_end(backend: Backend) -> None:
    end = found(backend, END)
    end = backend.graph.remove_edges(end.ref, dict.fromkeys(end.waiting_on, True))
    backend.graph.decide(end, Readiness(TaskState.COMPLETED, "all have"), now_ms=NOW_MS)


def _settle_a_parent(backend: Backend) -> None:
    settle(backend, "next", COMPLETED)


def _add_another(backend: Backend) -> None:
    assert backend.additions.add(a_chunk(backend, {"another": []}))


@pytest.mark.parametrize(
    "change",
    [
        _settle_the_job,
        _begin_to_cancel,
        _have_cancelled,
        _begin_to_redrive,
        _decide_the_end,
        _settle_a_parent,
        _add_another,
    ],
)
def test_a_job_that_has_changed_takes_nothing(
    opened: Backend, change: Callable[[Backend], None]
) -> None:
    chunk = a_chunk(opened, {"new": ["next"]})
    change(opened)
    before = picture(opened)
    assert not opened.additions.add(chunk)
    assert picture(opened) == before


def test_a_job_whose_redrive_is_not_over_takes_nothing(opened: Backend) -> None:
    chunk = a_chunk(opened, {"new": ["next"]})
    _begin_to_redrive(opened)
    job = picture(opened).job
    assert job.state is JobState.OPEN
    assert not opened.additions.add(replace(chunk, job=replace(chunk.job, run=job.run)))


def _another_run_of_the_job(chunk: Chunk) -> Chunk:
    return replace(chunk, job=replace(chunk.job, run=2))


def _another_run_of_the_end(chunk: Chunk) -> Chunk:
    return replace(chunk, end=replace(chunk.end, run=2))


def _with_parent(chunk: Chunk, **facts: object) -> Chunk:
    (change,) = chunk.changes
    task = replace(change.existing.task, **facts)  # type: ignore[arg-type]
    existing = replace(change.existing, task=task)
    return replace(chunk, changes=(Change(existing, change.dependents),))


def _another_run_of_a_parent(chunk: Chunk) -> Chunk:
    return _with_parent(chunk, run=2)


def _a_parent_that_has_settled(chunk: Chunk) -> Chunk:
    return _with_parent(chunk, state=TaskState.COMPLETED)


def _other_dependents_of_a_parent(chunk: Chunk) -> Chunk:
    (change,) = chunk.changes
    existing = replace(change.existing, dependents=(*change.existing.dependents, "somebody"))
    return replace(chunk, changes=(Change(existing, (*existing.dependents, "new")),))


def _more_than_there_is_room_for(chunk: Chunk) -> Chunk:
    names = tuple(f"t{n}" for n in range(MAX_WITH_ITEMS))
    return replace(chunk, added=replace(chunk.added, task_ids=names))


def _a_task_that_is_there(chunk: Chunk) -> Chunk:
    there = replace(chunk.tasks[0], ref=JOB.task("last"))
    return replace(chunk, tasks=(there,))


@pytest.mark.parametrize(
    "other",
    [
        _another_run_of_the_job,
        _another_run_of_the_end,
        _another_run_of_a_parent,
        _a_parent_that_has_settled,
        _other_dependents_of_a_parent,
        _more_than_there_is_room_for,
        _a_task_that_is_there,
    ],
)
def test_a_chunk_that_was_planned_by_something_else_is_refused(
    opened: Backend, other: Callable[[Chunk], Chunk]
) -> None:
    before = picture(opened)
    assert not opened.additions.add(other(a_chunk(opened, {"new": ["next"]})))
    assert picture(opened) == before


@pytest.mark.parametrize(("name", "state"), [("done", "FAILED"), ("lost", "COMPLETED")])
def test_a_settled_parent_has_to_be_in_the_state_that_was_read(
    opened: Backend, name: str, state: str
) -> None:
    chunk = _with_parent(a_chunk(opened, {"new": [name]}), state=TaskState(state))
    assert not opened.additions.add(chunk)


def test_who_was_moved_meanwhile_stays_so(opened: Backend) -> None:
    """A parent's names are only added to: they may be many, and others change too."""
    chunk = a_chunk(opened, {"new": ["next"]})
    (change,) = chunk.changes
    there = change.existing.dependents
    as_read = tuple(f"then-{name}" for name in there)
    existing = replace(change.existing, dependents=as_read)
    changes = (Change(existing, (*as_read, "new")),)
    assert opened.additions.add(replace(chunk, changes=changes))
    now = opened.additions.chunk_context(JOB, ["next"]).existing_tasks["next"].dependents
    assert now == (*there, "new")
