"""Takes edges out of the graph, and decides the tasks that wait for nothing any more."""

from collections.abc import Sequence
from typing import Final

from switchyard.domain.errors import Unavailable
from switchyard.domain.ids import END, JobRef
from switchyard.domain.tasks.following import Followed, Tokens, is_free, tokens_by_child
from switchyard.domain.tasks.readiness import decide_readiness
from switchyard.domain.tasks.task import Task
from switchyard.ports import Clock, TaskGraph, Workforce

TRIES: Final = 5


class EdgeRemover:
    def __init__(self, *, graph: TaskGraph, clock: Clock, workforce: Workforce) -> None:
        self._graph = graph
        self._clock = clock
        self._workforce = workforce

    def remove_from(
        self, job: JobRef, followed: Sequence[Followed], *, job_cancelled: bool = False
    ) -> list[Task]:
        """The dependents, as they are without the edges that lead there from `followed`.

        An edge found removed is followed all the same: whoever removed it may have died then.
        """

        def without(edges: tuple[str, Tokens]) -> Task:
            name, tokens = edges
            return self._graph.remove_edges(job.task(name), tokens)

        moved = self._workforce.each(without, list(tokens_by_child(followed).items()))
        free = [child for child in moved if is_free(child)]
        decided = self._decided(job, free, job_cancelled=job_cancelled)
        return [child for child in moved if not is_free(child)] + decided

    def _decided(self, job: JobRef, free: Sequence[Task], *, job_cancelled: bool) -> list[Task]:
        """Read together what they need to know of parents that did not complete."""
        lost = self._not_completed(job, free)
        return self._workforce.each(
            lambda child: self._decide(child, lost, job_cancelled=job_cancelled), free
        )

    def _decide(self, child: Task, lost: dict[str, Task], *, job_cancelled: bool) -> Task:
        for _ in range(TRIES):
            parents = {name: lost[name] for name in child.not_completed if name in lost}
            verdict = decide_readiness(child, parents, job_cancelled=job_cancelled)
            child = self._graph.decide(child, verdict, now_ms=self._clock.now_ms())
            if not is_free(child):
                return child
            lost = self._not_completed(child.ref.job, [child])  # flagged, or of another run, since
        raise Unavailable(f"{child.ref.request_id} changed {TRIES} times while it was decided")

    def _not_completed(self, job: JobRef, children: Sequence[Task]) -> dict[str, Task]:
        able = [child for child in children if child.ref.task_id != END]  # it asks for nobody
        names = {name for child in able for name in child.not_completed}
        return dict(self._graph.find_many([job.task(name) for name in sorted(names)]))
