"""How a job moves on, and what mends it when it does not."""

from typing import Final

from tests.mutants.guards.places import (
    DISPATCH,
    GRAPH,
    GRAPH_TESTS,
    JOB_TESTS,
    JOBS,
    OVERDUE,
    OVERDUE_TESTS,
    STORMS,
    SWEEP,
    SWEEP_TESTS,
    SWEEPING,
    TASK,
)
from tests.mutants.mutant import Mutant

GUARDS: Final = (
    Mutant(
        guard="an edge names the run",
        file=TASK,
        old='return f"{task_id}@{run}"',
        new='return f"{task_id}@1"',
        tests=GRAPH_TESTS,
    ),
    Mutant(
        guard="an edge is removed once",
        file=GRAPH,
        old='condition="contains(#waiting_on, :token)",',
        new='condition="attribute_exists(#PK) OR contains(#waiting_on, :token)",',
        tests=GRAPH_TESTS,
    ),
    Mutant(
        guard="a task that still waits is not decided",
        file=GRAPH,
        old="AND attribute_not_exists(#waiting_on) AND",
        new="AND",
        tests=GRAPH_TESTS,
    ),
    Mutant(
        guard="a task is decided once",
        file=GRAPH,
        old='condition="#state = :waiting AND attribute_not_exists',
        new='condition=":waiting = :waiting AND attribute_not_exists',
        tests=STORMS,
    ),
    Mutant(
        guard="an edge found removed is followed all the same",
        file=DISPATCH,
        old="        child = self._graph.remove_edge(ref, parent.token, completed=completed)\n",
        new="""        before = self._graph.find(ref)
        child = self._graph.remove_edge(ref, parent.token, completed=completed)
        if before is not None and parent.token not in before.waiting_on:
            return parent
""",
        tests=STORMS,
    ),
    Mutant(
        guard="a due time is cleared only if nothing changed",
        file=GRAPH,
        old='condition="#state = :state AND #fence = :fence AND #run = :run",',
        new='condition=":state = :state AND :fence = :fence AND :run = :run",',
        tests=GRAPH_TESTS,
    ),
    Mutant(
        guard="only what is ready becomes queued",
        file=GRAPH,
        old='condition="#state = :ready AND #run = :run",',
        new='condition=":ready = :ready AND :run = :run",',
        tests=STORMS,
    ),
    Mutant(
        guard="a job is settled once",
        file=JOBS,
        old='condition="#state = :open AND #run = :run",',
        new='condition=":open = :open AND #run = :run",',
        tests=JOB_TESTS,
    ),
    Mutant(
        guard="the first failure stays the first",
        file=JOBS,
        old='condition="attribute_not_exists(#failure_detected_at_ms) AND #run = :run",',
        new='condition="#run = :run",',
        tests=JOB_TESTS,
    ),
    Mutant(
        guard="of two sweepers one acts",
        file=OVERDUE,
        old="""                condition=f"#{DUE_AT} = :old",
                values={"old": overdue.due_at_ms},""",
        new="""                condition=f"attribute_exists(#{DUE_AT}) AND :old = :old",
                values={"old": overdue.due_at_ms},""",
        tests=OVERDUE_TESTS,
    ),
    Mutant(
        guard="the sweeper moves the due time before it acts",
        file=SWEEP,
        old="        if not self._take(found, step):\n",
        new="        if False:\n",
        tests=SWEEP_TESTS,
    ),
    Mutant(
        guard="the sweeper believes the item, not the index",
        file=SWEEPING,
        old="    if task.due_at_ms > now_ms:\n",
        new="    if task.due_at_ms > now_ms + 10**12:\n",
        tests=("tests/unit/domain/test_sweeping.py",),
    ),
)
