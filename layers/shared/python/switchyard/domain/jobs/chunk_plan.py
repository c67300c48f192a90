"""Plans a chunk of added tasks by what the job was read to be."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from switchyard.domain.errors import Conflict, NotNow
from switchyard.domain.ids import ADDED_PREFIX, END
from switchyard.domain.jobs.additions import Group, Newcomer
from switchyard.domain.jobs.chunks import (
    AddedTasks,
    Change,
    Chunk,
    ChunkContext,
    added_number,
    added_relay,
    open_end,
)
from switchyard.domain.jobs.job import Job
from switchyard.domain.jobs.limits import MAX_NAMES, MAX_WITH_ITEMS, MOST_DEPENDENTS
from switchyard.domain.jobs.plan import (
    FIRST_RUN,
    Pinned,
    hidden_task,
    needs_parent_count,
    new_task,
    payload_of,
)
from switchyard.domain.scheduling.placement import NO_QUEUES, Placing
from switchyard.domain.states import TaskState
from switchyard.domain.tasks import due, transitions
from switchyard.domain.tasks.readiness import decide_readiness
from switchyard.domain.tasks.task import Task, edge_token, parent_of
from switchyard.domain.transition import applied

MOST_CANDIDATES: Final = 20

Pins = Mapping[str, Pinned]


def candidates(end: Task) -> tuple[str, ...]:
    """Return the tasks that a relay could replace before `__end__`, if its set is full."""
    if len(end.waiting_on) < MAX_NAMES:
        return ()
    return tuple(sorted(map(parent_of, end.waiting_on), key=_oldest_first)[:MOST_CANDIDATES])


def plan_chunk(
    group: Group, seen: ChunkContext, *, pinned: Pins, at_ms: int, placing: Placing = NO_QUEUES
) -> Chunk | None:
    """Plan a chunk; `None` while `__end__` waits for too many, which passes. Raise `Conflict`."""
    end = open_end(seen.job, seen.end)
    _require_absent(group, seen)
    _require_room(group, seen)
    moved = next(filter(None, (_movable(end, seen, name) for name in candidates(end))), None)
    if moved is None and len(end.waiting_on) >= MAX_NAMES:
        return None
    relay = added_relay(seen.job.additions + 1)
    within = _within(group, relay)
    sinks = [edge_token(name, FIRST_RUN) for name, after in within.items() if relay in after]
    waits_on = [*sinks, moved.token] if moved else sinks
    added = AddedTasks(
        task_ids=tuple(spec.task_id for spec in group.specs),
        previous_total=seen.job.total_tasks,
        job_run=seen.job.run,
        at_ms=at_ms,
    )
    return Chunk(
        job=seen.job,
        end=end,
        moved=moved,
        relay=hidden_task(seen.job.ref.task(relay), waits_on),
        tasks=tuple(
            _new_task(newcomer, group, seen, pinned=pinned, placing=placing, at_ms=at_ms)
            for newcomer in group.newcomers
        ),
        dependents={**within, relay: (END,)},
        payloads={
            **{spec.task_id: payload_of(spec) for spec in group.specs},
            relay: added.payload(),
        },
        changes=tuple(_changes(group, seen, moved, relay)),
        added=added,
    )


def _require_absent(group: Group, seen: ChunkContext) -> None:
    """A repeated request that is the same counts as added."""
    for name in sorted(group.names & seen.existing_tasks.keys()):
        raise NotNow(f"{seen.job.ref.job_id} has a task {name!r} already, added just now")


def _require_room(group: Group, seen: ChunkContext) -> None:
    """Raise `Conflict` without room: others may have added tasks since the request was checked."""
    if seen.job.total_tasks + len(group.specs) > MAX_WITH_ITEMS:
        raise Conflict(f"{seen.job.ref.job_id} would have more than {MAX_WITH_ITEMS:,} tasks")


def _oldest_first(name: str) -> tuple[bool, int, str]:
    """Relays of chunks, so that what stands before `__end__` stays shallow; then the others."""
    if name.startswith(ADDED_PREFIX):
        return False, added_number(name), name
    return True, 0, name


def _movable(end: Task, seen: ChunkContext, name: str) -> Task | None:
    existing = seen.existing_tasks.get(name)
    if existing is None or existing.task.state.settled or END not in existing.dependents:
        return None
    return existing.task if existing.task.token in end.waiting_on else None


def _within(group: Group, relay: str) -> dict[str, tuple[str, ...]]:
    """Return the dependents of each newcomer: other newcomers, or else the chunk's relay."""
    following: dict[str, list[str]] = {newcomer.task_id: [] for newcomer in group.newcomers}
    for newcomer in group.newcomers:
        for parent in newcomer.parents:
            if parent in following:
                following[parent].append(newcomer.task_id)
    return {name: tuple(after) or (relay,) for name, after in following.items()}


def _changes(group: Group, seen: ChunkContext, moved: Task | None, relay: str) -> list[Change]:
    """Add the new dependents to settled parents too: those may be redriven."""
    following: dict[str, list[str]] = {moved.ref.task_id: []} if moved else {}
    for newcomer in group.newcomers:
        for parent in newcomer.parents:
            if parent not in group.names:
                following.setdefault(parent, []).append(newcomer.task_id)
    changes = []
    for name, new in following.items():
        existing = seen.existing_tasks[name]
        instead = relay if existing.task == moved else END
        stored = [instead if after == END else after for after in existing.dependents]
        changes.append(Change(existing, _not_too_many(name, (*stored, *new))))
    return changes


def _not_too_many(name: str, dependents: tuple[str, ...]) -> tuple[str, ...]:
    if len(dependents) > MOST_DEPENDENTS:
        raise Conflict(f"{name!r} would be followed by more than {MOST_DEPENDENTS:,} tasks")
    return dependents


def _new_task(
    newcomer: Newcomer,
    group: Group,
    seen: ChunkContext,
    *,
    pinned: Mapping[str, Pinned],
    placing: Placing,
    at_ms: int,
) -> Task:
    """Decide the task at once if all its parents have settled: no later event would do it.

    One with a condition is due instead, since what its parents made is not read here.
    """
    parents = [
        seen.existing_tasks[name].task for name in newcomer.parents if name not in group.names
    ]
    beside = [edge_token(name, FIRST_RUN) for name in newcomer.parents if name in group.names]
    settled = [parent for parent in parents if parent.state.settled]
    lost = {t.ref.task_id: t for t in settled if t.state is not TaskState.COMPLETED}
    new = _task(seen.job, newcomer, pinned, placing)
    task = replace(
        new,
        waiting_on=frozenset([*beside, *(t.token for t in parents if t not in settled)]),
        not_completed=frozenset(lost),
        parent_count=len(newcomer.parents) if needs_parent_count(new) else 0,
    )
    if task.conditional and not task.waiting_on:
        return replace(task, due_at_ms=at_ms + due.AFTER_READY)  # the dispatcher reads the outputs
    if task.waiting_on:
        return task
    return applied(task, transitions.decide(task, decide_readiness(task, lost), now_ms=at_ms))


def _task(job: Job, newcomer: Newcomer, pinned: Mapping[str, Pinned], placing: Placing) -> Task:
    spec = newcomer.spec
    if spec is None:
        return hidden_task(job.ref.task(newcomer.task_id))
    return new_task(job, spec, pinned, placing=placing)
