"""How tasks join a job that changes meanwhile."""

from typing import Final

from tests.mutants.guards.places import PACKAGE, SIMULATED
from tests.mutants.mutant import Mutant

ADDITIONS: Final = f"{PACKAGE}/adapters/dynamodb/task_additions.py"
CHUNK_PLAN: Final = f"{PACKAGE}/domain/jobs/chunk_plan.py"
REFUSED: Final = ("tests/contract/test_refused_additions.py", *SIMULATED)
ADDED: Final = ("tests/contract/test_task_additions.py", *SIMULATED)

GUARDS: Final = (
    Mutant(
        guard="tasks are added to an open job",
        file=ADDITIONS,
        old='condition="#state = :open AND #run = :run AND',
        new='condition=":open = :open AND #run = :run AND',
        tests=REFUSED,
    ),
    Mutant(
        guard="tasks are added to the run that was read",
        file=ADDITIONS,
        old='condition="#state = :open AND #run = :run AND',
        new='condition="#state = :open AND :run = :run AND',
        tests=REFUSED,
    ),
    Mutant(
        guard="no tasks are added to a job that was cancelled",
        file=ADDITIONS,
        old="AND attribute_not_exists(#cancel_requested) ",
        new="",
        tests=REFUSED,
    ),
    Mutant(
        guard="no tasks are added to a job whose redrive is not over",
        file=ADDITIONS,
        old='"AND attribute_not_exists(#redrive_key) AND',
        new='"AND',
        tests=REFUSED,
    ),
    Mutant(
        guard="no tasks are added once the end was decided",
        file=ADDITIONS,
        old='waits = "#state = :waiting AND #run = :run"',
        new='waits = ":waiting = :waiting AND #run = :run"',
        tests=REFUSED,
    ),
    Mutant(
        guard="a parent that settled meanwhile is read again",
        file=ADDITIONS,
        old="states = [task.state] if task.state.settled else _UNSETTLED",
        new="states = list(TaskState)",
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
        file=ADDITIONS,
        old=" AND #total_tasks <= :most_before",
        new=" AND :most_before = :most_before",
        tests=REFUSED,
    ),
    Mutant(
        guard="what a crowded end waits for is as read",
        file=ADDITIONS,
        old='condition=f"{waits} AND #waiting_on = :as_read"',
        new='condition=f"{waits} AND :as_read = :as_read"',
        tests=ADDED,
    ),
    Mutant(
        guard="a lost answer is read back from the chunk's relay",
        file=ADDITIONS,
        old="            if self._was_added(chunk):",
        new="            if False:",
        tests=("tests/unit/adapters/test_lost_additions.py",),
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
        old="member is None or member.task.state.settled or",
        new="member is None or",
        tests=("tests/unit/domain/jobs/test_additions.py",),
    ),
)
