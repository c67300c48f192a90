"""How a job moves on, and what mends it when it does not."""

from typing import Final

from tests.mutants.guards.places import (
    DISPATCH,
    DISPATCH_TESTS,
    EDGE_TRANSITIONS,
    EDGES,
    GRAPH,
    GRAPH_TESTS,
    JOB_TESTS,
    JOB_TRANSITIONS,
    OVERDUE_TESTS,
    PACKAGE,
    STORMS,
    SWEEP,
    SWEEP_TESTS,
    SWEEPING,
    TASK,
    TASK_TRANSITIONS,
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
        file=EDGE_TRANSITIONS,
        old='guard=tuple(Contains("waiting_on", token) for token in tokens),',
        new="guard=(),",
        tests=GRAPH_TESTS,
    ),
    Mutant(
        guard="of several edges those that are left are removed",
        file=GRAPH,
        old="if isinstance(answer, TransitionRefused) and left:",
        new="if False:",
        tests=GRAPH_TESTS,
    ),
    Mutant(
        guard="a task that still waits is not decided",
        file=TASK_TRANSITIONS,
        old='guard=(_WAITING, Absent("waiting_on"), ',
        new="guard=(_WAITING, ",
        tests=GRAPH_TESTS,
    ),
    Mutant(
        guard="a task is decided once",
        file=TASK_TRANSITIONS,
        old='guard=(_WAITING, Absent("waiting_on"), ',
        new='guard=(Absent("waiting_on"), ',
        tests=STORMS,
    ),
    Mutant(
        guard="an edge found removed is followed all the same",
        file=EDGES,
        old="""
        moved = self._parallel.each(without, list(tokens_by_child(settled_parents).items()))
""",
        new="""
        tokens = tokens_by_child(settled_parents)
        before = self._graph.find_many([job.task(name) for name in tokens])
        moved = [
            child
            for child in self._parallel.each(without, list(tokens.items()))
            if before[child.ref.task_id].waiting_on & tokens[child.ref.task_id].keys()
        ]
""",
        tests=DISPATCH_TESTS,
    ),
    Mutant(
        guard="what was flagged since it was read is decided anew",
        file=TASK_TRANSITIONS,
        old='equal("run", task.run), flagged("cancel_requested")),',
        new='equal("run", task.run)),',
        tests=GRAPH_TESTS,
    ),
    Mutant(
        guard="a task is told before it is sent",
        file=f"{PACKAGE}/usecases/dispatching/dispatch_task.py",
        old="""        self._emitter.emit(*[task_events.pending(task) for task in ready])
        self._queue.send([TaskMessage.waking(task) for task in ready])
""",
        new="""        self._queue.send([TaskMessage.waking(task) for task in ready])
        self._emitter.emit(*[task_events.pending(task) for task in ready])
""",
        tests=DISPATCH_TESTS,
    ),
    Mutant(
        guard="what was sent directly is followed even if it is not due",
        file=DISPATCH,
        old="not (woken_by_event and task.due_at_ms is None)",
        new="task.due_at_ms is not None",
        tests=DISPATCH_TESTS,
    ),
    Mutant(
        guard="a wake-up of an earlier run is none",
        file=DISPATCH,
        old="for task in found.tasks.values() if task.this_run in runs]",
        new="for task in found.tasks.values()]",
        tests=DISPATCH_TESTS,
    ),
    Mutant(
        guard="what there is no time for is left to another",
        file=DISPATCH,
        old="self._leave([one.task.this_run for one in waiting])",
        new="pass",
        tests=DISPATCH_TESTS,
    ),
    Mutant(
        guard="a job in the middle of something is settled later",
        file=DISPATCH,
        old="for task in tasks if task.ref.task_id != END or self._settler.settle(task)]",
        new="for task in tasks if task.ref.task_id != END or self._settler.settle(task) or True]",
        tests=DISPATCH_TESTS,
    ),
    Mutant(
        guard="an end that was reopened ends nothing",
        file=f"{PACKAGE}/usecases/dispatching/settle_job.py",
        old="        if not _includes(found, end):\n",
        new="        if False:\n",
        tests=DISPATCH_TESTS,
    ),
    Mutant(
        guard="a job for which there is no time is left to another",
        file=f"{PACKAGE}/usecases/dispatching/dispatch_batch.py",
        old="late = number > 0 and self.clock.monotonic() >= until",
        new="late = False",
        tests=DISPATCH_TESTS,
    ),
    Mutant(
        guard="a beginning that is told again tells what it was",
        file=SWEEP,
        old="if task.ref.task_id not in added]",
        new="if task.ref.task_id]",
        tests=("tests/unit/usecases/jobs/test_growing_jobs.py", "-k", "creation"),
    ),
    Mutant(
        guard="what fails together is tried alone",
        file=f"{PACKAGE}/usecases/dispatching/dispatch_batch.py",
        old="        if len(group) == 1:\n",
        new="        if group:\n",
        tests=DISPATCH_TESTS,
    ),
    Mutant(
        guard="only the dispatcher's own work is followed with it",
        file=f"{PACKAGE}/domain/tasks/readiness.py",
        old="    return task.state.settled and by_following and task.due_at_ms is not None\n",
        new="    return task.state.settled and task.due_at_ms is not None\n",
        tests=DISPATCH_TESTS,
    ),
    Mutant(
        guard="a due time is cleared only if nothing changed",
        file=TASK_TRANSITIONS,
        old='guard=(equal("state", task.state), equal("fence", task.fence), equal("run",'
        " task.run)),",
        new="guard=(),",
        tests=GRAPH_TESTS,
    ),
    Mutant(
        guard="only what is ready becomes queued",
        file=TASK_TRANSITIONS,
        old='name="mark_queued",\n        guard=(_READY, equal("run", task.run)),',
        new='name="mark_queued",\n        guard=(),',
        tests=STORMS,
    ),
    Mutant(
        guard="a job is settled once",
        file=JOB_TRANSITIONS,
        old='name="settle",\n        guard=(_OPEN, equal("run", job.run)),',
        new='name="settle",\n        guard=(equal("run", job.run),),',
        tests=JOB_TESTS,
    ),
    Mutant(
        guard="the first failure stays the first",
        file=JOB_TRANSITIONS,
        old='guard=(Absent("failure_detected_at_ms"), equal("run", job.run)),',
        new='guard=(equal("run", job.run),),',
        tests=JOB_TESTS,
    ),
    Mutant(
        guard="of two sweepers one acts",
        file=TASK_TRANSITIONS,
        old='guard=(equal("due_at_ms", task.due_at_ms),),',
        new='guard=(Present("due_at_ms"),),',
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
        tests=("tests/unit/domain/jobs/test_sweeping.py",),
    ),
)
