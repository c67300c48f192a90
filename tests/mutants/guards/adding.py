"""How tasks join a job that changes meanwhile."""

from typing import Final

from tests.mutants.guards.places import (
    EDGE_TRANSITIONS,
    JOB_TRANSITIONS,
    PACKAGE,
    SIMULATED,
)
from tests.mutants.mutant import Mutant

ADDITIONS: Final = f"{PACKAGE}/adapters/dynamodb/task_additions.py"
CHUNK_PLAN: Final = f"{PACKAGE}/domain/jobs/chunk_plan.py"
REFUSED: Final = ("tests/contract/jobs/test_refused_additions.py", *SIMULATED)
ADDED: Final = ("tests/contract/jobs/test_task_additions.py", *SIMULATED)

GUARDS: Final = (
    Mutant(
        guard="tasks are added to an open job",
        file=JOB_TRANSITIONS,
        old='            _OPEN,\n            equal("run", job.run),\n',
        new='            equal("run", job.run),\n',
        tests=REFUSED,
    ),
    Mutant(
        guard="tasks are added to the run that was read",
        file=JOB_TRANSITIONS,
        old='            _OPEN,\n            equal("run", job.run),\n',
        new="            _OPEN,\n",
        tests=REFUSED,
    ),
    Mutant(
        guard="no tasks are added to a job that was cancelled",
        file=JOB_TRANSITIONS,
        old='            Absent("cancel_requested"),\n',
        new="",
        tests=REFUSED,
    ),
    Mutant(
        guard="no tasks are added to a job whose redrive is not over",
        file=JOB_TRANSITIONS,
        old='            Absent("redrive_key"),\n',
        new="",
        tests=REFUSED,
    ),
    Mutant(
        guard="no tasks are added once the end was decided",
        file=EDGE_TRANSITIONS,
        old='    waits = (_WAITING, equal("run", end.run))\n',
        new='    waits = (equal("run", end.run),)\n',
        tests=REFUSED,
    ),
    Mutant(
        guard="a parent that settled meanwhile is read again",
        file=EDGE_TRANSITIONS,
        old="states = (task.state,) if task.state.settled else _UNSETTLED",
        new="states = tuple(TaskState)",
        tests=REFUSED,
    ),
    Mutant(
        guard="a parent's dependents are as read",
        file=ADDITIONS,
        old='condition="size(#tasks) = :as_read"',
        new='condition=":as_read = :as_read"',
        tests=REFUSED,
    ),
    Mutant(
        guard="no tasks are added to a job that is full",
        file=JOB_TRANSITIONS,
        old='            at_most("total_tasks", most_before),\n',
        new="",
        tests=REFUSED,
    ),
    Mutant(
        guard="what a crowded end waits for is as read",
        file=EDGE_TRANSITIONS,
        old='guard=(*waits, equal("waiting_on", end.waiting_on)),',
        new="guard=waits,",
        tests=ADDED,
    ),
    Mutant(
        guard="a lost answer is read back from the chunk's relay",
        file=ADDITIONS,
        old="            if self._was_added(chunk):",
        new="            if False:",
        tests=("tests/unit/adapters/dynamodb/test_lost_additions.py",),
    ),
    Mutant(
        guard="a settled parent names who follows it",
        file=CHUNK_PLAN,
        old="if parent not in group.names:",
        new="if not (parent in group.names or seen.members[parent].task.state.settled):",
        tests=("tests/unit/domain/jobs/test_additions.py",),
    ),
    Mutant(
        guard="only who has not settled is moved behind the relay",
        file=CHUNK_PLAN,
        old="existing is None or existing.task.state.settled or",
        new="existing is None or",
        tests=("tests/unit/domain/jobs/test_additions.py",),
    ),
)
