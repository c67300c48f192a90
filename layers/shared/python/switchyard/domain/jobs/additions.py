"""Tasks that join a job under way: what can be wrong with them, and what is written together.

A transaction takes a hundred writes. So those that join do it chunk by chunk, parents before
children, and what would have too many parents for a chunk waits for relays instead.
"""

import hashlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from graphlib import TopologicalSorter
from typing import Final

from switchyard.domain.errors import Problem
from switchyard.domain.ids import RELAY_PREFIX
from switchyard.domain.jobs.file_checks import references_elsewhere
from switchyard.domain.jobs.graph import TaskSpec, problems_in
from switchyard.domain.jobs.job import JobPicture
from switchyard.domain.jobs.relays import compile_edges, parents_of
from switchyard.domain.prompts.references import reference_problems

WRITES_PER_CHUNK: Final = 100  # what one transaction takes
WRITES_FOR_THE_JOB: Final = 7  # the job, `__end__`, the chunk's relay (3), what it takes over (2)
WRITES_PER_TASK: Final = 3  # control item, data, dependents
WRITES_PER_RELAY: Final = 2  # it has no data
WRITES_PER_PARENT: Final = 2  # its state is checked, its dependents are extended
MOST_PARENTS: Final = (WRITES_PER_CHUNK - WRITES_FOR_THE_JOB - WRITES_PER_TASK) // WRITES_PER_PARENT


@dataclass(frozen=True, slots=True)
class Newcomer:
    task_id: str
    parents: tuple[str, ...]
    """The ids that the task waits for: those of relays, if it has too many parents."""
    spec: TaskSpec | None
    """The spec of the task; `None` for a relay."""

    @property
    def writes(self) -> int:
        return WRITES_PER_TASK if self.spec else WRITES_PER_RELAY


@dataclass(frozen=True)
class Group:
    """New tasks that are written together."""

    newcomers: tuple[Newcomer, ...]

    @cached_property
    def names(self) -> frozenset[str]:
        return frozenset(newcomer.task_id for newcomer in self.newcomers)

    @property
    def specs(self) -> list[TaskSpec]:
        return [newcomer.spec for newcomer in self.newcomers if newcomer.spec]

    @property
    def parents(self) -> frozenset[str]:
        """Return the parents of the group that are in the job by then."""
        return frozenset(p for n in self.newcomers for p in n.parents) - self.names


def perhaps_added(specs: Sequence[TaskSpec], picture: JobPicture) -> dict[str, TaskSpec]:
    """Return specs that may be tasks of the job already: only their inputs are left to compare."""
    there = {task.ref.task_id: task for task in picture.visible_tasks}
    return {
        spec.task_id: spec
        for spec in specs
        if (task := there.get(spec.task_id))
        and (task.definition, task.rule) == (spec.name, spec.rule)
        and task.kind is spec.kind
        and set(picture.depends_on.get(spec.task_id, ())) == set(spec.depends_on)
    }


def problems_with(
    specs: Sequence[TaskSpec], picture: JobPicture, *, added: Collection[str] = ()
) -> list[Problem]:
    """Return everything that would be wrong with the job if the specs were in it.

    Those in `added` are, by an earlier try: they are looked at as if they were not.
    """
    if not specs:
        return [Problem(("tasks",), "there is nothing to add")]
    every = (task.ref.task_id for task in picture.visible_tasks if not task.ref.fan_out)
    names = [name for name in every if name not in added]
    there = {name: picture.depends_on.get(name, ()) for name in names}
    taken = list(_taken_ids(specs, there))
    if taken:  # edges to such a task are ambiguous: there are two of that name
        return taken
    stored = [TaskSpec(task_id=name, name="", depends_on=after) for name, after in there.items()]
    return [*problems_in([*specs, *stored]), *_misdirected(specs, there)]


def _misdirected(specs: Sequence[TaskSpec], there: Mapping[str, Sequence[str]]) -> list[Problem]:
    return reference_problems(specs, declared=there, elsewhere=references_elsewhere(specs))


def grouped(specs: Sequence[TaskSpec], *, number: int) -> list[Group]:
    """Group the specs, parents before children, each group few enough writes for a chunk.

    `number` is that of the first chunk. The names of the relays also say which tasks they are for:
    another request may be adding other tasks at the same number.
    """
    digest = hashlib.blake2b("\n".join(s.task_id for s in specs).encode(), digest_size=4)
    newcomers = _newcomers(specs, f"{RELAY_PREFIX}{number}-{digest.hexdigest()}-")
    return [Group(tuple(group)) for group in _packed(newcomers)]


def _taken_ids(specs: Sequence[TaskSpec], there: Mapping[str, object]) -> Iterator[Problem]:
    for index, spec in enumerate(specs):
        if spec.task_id in there:
            yield Problem(
                ("tasks", index, "taskId"), f"the job has a task {spec.task_id!r} already"
            )


def _newcomers(specs: Sequence[TaskSpec], prefix: str) -> list[Newcomer]:
    dependents: dict[str, list[str]] = {}
    for spec in specs:
        for parent in spec.depends_on:
            dependents.setdefault(parent, []).append(spec.task_id)
    parents = parents_of(compile_edges(dependents, prefix=prefix, fan_in=MOST_PARENTS))
    new = {spec.task_id: spec for spec in specs}
    names = [*new, *(name for name in parents if name not in new)]
    joining = frozenset(names)
    order = TopologicalSorter(
        {name: [p for p in parents.get(name, ()) if p in joining] for name in names}
    )
    return [Newcomer(name, parents.get(name, ()), new.get(name)) for name in order.static_order()]


def _packed(newcomers: Sequence[Newcomer]) -> Iterator[list[Newcomer]]:
    group: list[Newcomer] = []
    names: set[str] = set()
    services: set[str] = set()
    writes = WRITES_FOR_THE_JOB
    for newcomer in newcomers:
        further = set(newcomer.parents) - names - services
        cost = newcomer.writes + WRITES_PER_PARENT * len(further)
        if group and writes + cost > WRITES_PER_CHUNK:
            yield group
            group, names, services, writes = [], set(), set(), WRITES_FOR_THE_JOB
            further = set(newcomer.parents)
            cost = newcomer.writes + WRITES_PER_PARENT * len(further)
        group.append(newcomer)
        names.add(newcomer.task_id)
        services |= further
        writes += cost
    if group:
        yield group
