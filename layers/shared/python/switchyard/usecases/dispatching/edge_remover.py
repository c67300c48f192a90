"""Removes the edges from settled tasks, and decides what waits for nothing any more."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final

from switchyard.domain.errors import Unavailable
from switchyard.domain.ids import END, JobRef
from switchyard.domain.states import TaskState
from switchyard.domain.tasks.readiness import (
    SettledParent,
    Tokens,
    decide_readiness,
    is_free,
    tokens_by_child,
)
from switchyard.domain.tasks.task import Task
from switchyard.ports import Clock, Parallel, TaskGraph
from switchyard.usecases.dispatching.conditions import Conditions

TRIES: Final = 5
NONE_KNOWN: Final[Mapping[str, Task]] = MappingProxyType({})


class EdgeRemover:
    def __init__(
        self,
        *,
        graph: TaskGraph,
        conditions: Conditions,
        clock: Clock,
        parallel: Parallel,
    ) -> None:
        self._graph = graph
        self._conditions = conditions
        self._clock = clock
        self._parallel = parallel

    def remove_from(
        self,
        job: JobRef,
        settled_parents: Sequence[SettledParent],
        *,
        job_cancelled: bool = False,
        known: Mapping[str, Task] = NONE_KNOWN,
    ) -> list[Task]:
        """Return the dependents, as they are without the edges from `settled_parents`.

        An edge found removed is followed all the same: who removed it may have died then.
        `known` are settled tasks that cannot change meanwhile, so that they need not be read.
        """

        def without(edges: tuple[str, Tokens]) -> Task:
            name, tokens = edges
            return self._graph.remove_edges(job.task(name), tokens)

        moved = self._parallel.each(without, list(tokens_by_child(settled_parents).items()))
        free = [child for child in moved if is_free(child)]
        decided = self.decide(job, free, job_cancelled=job_cancelled, known=known)
        return [child for child in moved if not is_free(child)] + decided

    def decide(
        self,
        job: JobRef,
        free: Sequence[Task],
        *,
        job_cancelled: bool = False,
        known: Mapping[str, Task] = NONE_KNOWN,
    ) -> list[Task]:
        """Decide tasks that wait for nothing any more; return them as they are then."""
        lost = self._not_completed(job, free, known)

        def decided(child: Task) -> Task:
            return self._decide(child, lost, job_cancelled=job_cancelled)

        plain = [child for child in free if not _is_judged(child)]
        judged = [child for child in free if _is_judged(child)]
        # One by one: each may read outputs of a megabyte, and a job has thousands of tasks.
        return [*self._parallel.each(decided, plain), *map(decided, judged)]

    def _decide(self, child: Task, lost: Mapping[str, Task], *, job_cancelled: bool) -> Task:
        for _ in range(TRIES):
            parents = {name: lost[name] for name in child.not_completed if name in lost}
            verdict = decide_readiness(child, parents, job_cancelled=job_cancelled)
            if _is_judged(child) and verdict.state is TaskState.READY:
                verdict = self._conditions.judge(child)
            child = self._graph.decide(child, verdict, now_ms=self._clock.now_ms())
            if not is_free(child):
                return child
            lost = self._not_completed(child.ref.job, [child])  # flagged, or of another run, since
        raise Unavailable(f"{child.ref.request_id} changed {TRIES} times while it was decided")

    def _not_completed(
        self, job: JobRef, children: Sequence[Task], known: Mapping[str, Task] = NONE_KNOWN
    ) -> Mapping[str, Task]:
        """Read together what they need to know of parents that did not complete."""
        able = [child for child in children if child.ref.task_id != END]  # reads none
        names = {name for child in able for name in child.not_completed}
        unknown = [job.task(name) for name in sorted(names - known.keys())]
        return {**known, **self._graph.find_many(unknown)}


def _is_judged(child: Task) -> bool:
    """Whether a condition decides, too; that of a fan-out has held before its items were made."""
    return child.conditional and child.child_count is None
