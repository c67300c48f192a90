"""Jobs that are tasks of others."""

from typing import Final

from tests.mutants.guards.places import PACKAGE
from tests.mutants.mutant import Mutant

EXPANSION: Final = f"{PACKAGE}/domain/nested_jobs/expansion.py"
REDRIVE: Final = f"{PACKAGE}/domain/jobs/redrive.py"
USE_CASE: Final = ("tests/unit/usecases/dispatching/test_nested_jobs.py",)
CHANGED: Final = ("tests/unit/usecases/dispatching/test_changing_nested_jobs.py",)

GUARDS: Final = (
    Mutant(
        guard="no task of a template is decided before all of them are written",
        file=EXPANSION,
        old="start.task_id: tuple(inner),",
        new="start.task_id: tuple(one.task_id for one in specs if not one.depends_on),",
        tests=CHANGED,
    ),
    Mutant(
        guard="a job waits for each of its tasks, also where those behind it completed",
        file=EXPANSION,
        old="(*after, name) for parent",
        new="after or (name,) for parent",
        tests=CHANGED,
    ),
    Mutant(
        guard="the start of a template is none of the parents that a rule counts",
        file=EXPANSION,
        old="parent_count=counted,",
        new="parent_count=made.parent_count,",
        tests=USE_CASE,
    ),
    Mutant(
        guard="what a condition skips does not fail the job that it is in",
        file=EXPANSION,
        old="frozenset({TaskState.COMPLETED, TaskState.SKIPPED})",
        new="frozenset({TaskState.COMPLETED})",
        tests=USE_CASE,
    ),
    Mutant(
        guard="failures in a job are tolerated where the job itself is",
        file=EXPANSION,
        old="tolerated=task.tolerated,",
        new="tolerated=False,",
        tests=USE_CASE,
    ),
    Mutant(
        guard="jobs are three levels deep at most",
        file=f"{PACKAGE}/domain/nested_jobs/job_templates.py",
        old="        if len(chain) >= MAX_LEVELS:\n",
        new="        if False:\n",
        tests=USE_CASE,
    ),
    Mutant(
        guard="a version of a template keeps the versions that its tasks name",
        file=f"{PACKAGE}/usecases/definitions/put_definition.py",
        old='return definition.model_copy(update={"pinned": pinned(found)})',
        new="return definition",
        tests=USE_CASE,
    ),
    Mutant(
        guard="a redriven job does not run what its conditions skipped",
        file=REDRIVE,
        old="        and task.state in BY_DEFAULT\n    )",
        new="        and task.state in REDRIVABLE\n    )",
        tests=CHANGED,
    ),
    Mutant(
        guard="only what a task made makes it gather again",
        file=f"{PACKAGE}/domain/redrives/reach.py",
        old="gathers = task.fans_out and is_made_by(before, task.ref.task_id)",
        new='gathers = task.fans_out and "[" in before',
        tests=CHANGED,
    ),
)
