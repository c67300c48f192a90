"""Tasks that are made of a list, and gathered."""

from typing import Final

from tests.mutants.guards.places import PACKAGE
from tests.mutants.mutant import Mutant

TRANSITIONS: Final = f"{PACKAGE}/domain/tasks/fan_out_transitions.py"
FAN_OUTS: Final = f"{PACKAGE}/usecases/dispatching/fan_outs.py"
CONTRACT: Final = ("tests/contract/tasks/test_fan_outs.py",)
USE_CASE: Final = ("tests/unit/usecases/dispatching/test_fan_outs.py",)
REACH: Final = f"{PACKAGE}/domain/redrives/reach.py"
ANEW: Final = ("tests/contract/tasks/test_items_made_anew.py",)
NEW_LISTS: Final = ("tests/unit/usecases/dispatching/test_new_lists.py",)
CHANGED: Final = ("tests/unit/usecases/dispatching/test_changing_fan_outs.py",)

GUARDS: Final = (
    Mutant(
        guard="a fan-out is opened once",
        file=TRANSITIONS,
        old='return (_READY, equal("run", task.run), Absent("child_count"))',
        new='return (equal("run", task.run),)',
        tests=CONTRACT,
    ),
    Mutant(
        guard="a fan-out of an older run is not opened",
        file=TRANSITIONS,
        old='return (_READY, equal("run", task.run), Absent("child_count"))',
        new='return (_READY, Absent("child_count"))',
        tests=CONTRACT,
    ),
    Mutant(
        guard="how much of a fan-out is written never goes back",
        file=TRANSITIONS,
        old="guard=(*_unexpanded(task), fewer)",
        new="guard=_unexpanded(task)",
        tests=CONTRACT,
    ),
    Mutant(
        guard="a fan-out is gathered as it was read",
        file=TRANSITIONS,
        old='guard=(_READY, equal("run", task.run), equal("fence", task.fence)),',
        new="guard=(_READY,),",
        tests=CONTRACT,
    ),
    Mutant(
        guard="the items of a fan-out have room in their job",
        file=f"{PACKAGE}/domain/jobs/transitions.py",
        old='guard=(_OPEN, Absent("cancel_requested"), at_most("total_tasks", most_before)),',
        new='guard=(_OPEN, Absent("cancel_requested")),',
        tests=CONTRACT,
    ),
    Mutant(
        guard="no fan-out is opened in a job that is being cancelled",
        file=f"{PACKAGE}/domain/jobs/transitions.py",
        old='guard=(_OPEN, Absent("cancel_requested"), at_most("total_tasks", most_before)),',
        new='guard=(at_most("total_tasks", most_before),),',
        tests=CONTRACT,
    ),
    Mutant(
        guard="items that may not run yet are not flagged with their job",
        file=f"{PACKAGE}/domain/jobs/cancel_cursor.py",
        old='return Leave("its fan-out is not expanded") if unopened else decide_cancel(task)',
        new="return decide_cancel(task)",
        tests=CHANGED,
    ),
    Mutant(
        guard="a tolerated failure is no failure of the job",
        file=f"{PACKAGE}/usecases/dispatching/settle_job.py",
        old="if t.state.failure and not t.tolerated}",
        new="if t.state.failure}",
        tests=USE_CASE,
    ),
    Mutant(
        guard="a fan-out stands for its items when its job ends",
        file=f"{PACKAGE}/usecases/dispatching/settle_job.py",
        old="decide_job_outcome({task.state for task in found.declared_tasks})",
        new="decide_job_outcome({task.state for task in found.visible_tasks})",
        tests=USE_CASE,
    ),
    Mutant(
        guard="the rule of a fan-out is asked once",
        file=f"{PACKAGE}/domain/tasks/readiness.py",
        old="    if task.child_count is not None:\n",
        new="    if False:\n",
        tests=USE_CASE,
    ),
    Mutant(
        guard="a fan-out's event is emitted before its items may run",
        file=FAN_OUTS,
        old="        self.emitter.emit(task_events.expanded(task, items=expansion.child_count))\n",
        new="",
        tests=USE_CASE,
    ),
    Mutant(
        guard="that a fan-out has begun is stored before its items are",
        file=FAN_OUTS,
        old="            task = self.fan_outs.note_expanded(task, 0, now_ms=self.clock.now_ms())\n",
        new="            pass\n",
        tests=CHANGED,
    ),
    Mutant(
        guard="what an item brings in refers to nothing",
        file=f"{PACKAGE}/domain/fan_out/templates.py",
        old='            return value.replace("${", _ESCAPED)',
        new="            return value",
        tests=USE_CASE,
    ),
    Mutant(
        guard="a fan-out gathers again when one of its items is redriven",
        file=REACH,
        old="gathers = task.fans_out and is_made_by(before, task.ref.task_id)",
        new="gathers = False",
        tests=CHANGED,
    ),
    Mutant(
        guard="an item of this list, or of a later one, is not replaced",
        file=TRANSITIONS,
        old='return (_NOBODY_IS_AT_IT, below("run", items_run))',
        new="return (_NOBODY_IS_AT_IT,)",
        tests=ANEW,
    ),
    Mutant(
        guard="an item that is under way is not replaced",
        file=TRANSITIONS,
        old='return (_NOBODY_IS_AT_IT, below("run", items_run))',
        new='return (below("run", items_run),)',
        tests=ANEW,
    ),
    Mutant(
        guard="a fan-out that comes after what runs again reads its list anew",
        file=REACH,
        old="{name for name in first if tasks[name].fans_out} | from_outside",
        new="{name for name in first if tasks[name].fans_out}",
        tests=NEW_LISTS,
    ),
    Mutant(
        guard="new items run only when no earlier one is left",
        file=f"{PACKAGE}/usecases/dispatching/earlier_items.py",
        old="        if earlier_items(self.jobs.states(task.ref.job), task, makers):\n",
        new="        if False:\n",
        tests=NEW_LISTS,
    ),
    Mutant(
        guard="what left the list is not redriven with its fan-out",
        file=f"{PACKAGE}/domain/jobs/redrive.py",
        old="        and task.state in BY_DEFAULT\n    )",
        new="        and task.state in REDRIVABLE\n    )",
        tests=NEW_LISTS,
    ),
    Mutant(
        guard="a completed task that runs again has no output of its last run",
        file=f"{PACKAGE}/adapters/dynamodb/redrives.py",
        old="        if given is None and not reopening.made_output:\n",
        new="        if given is None:\n",
        tests=("tests/contract/jobs/test_redriving_completed.py",),
    ),
    Mutant(
        guard="what was shown by a dry run is run, or nothing",
        file=f"{PACKAGE}/usecases/jobs/redrive_requests.py",
        old="request.run if run is None else run",
        new="run",
        tests=("tests/unit/usecases/jobs/redrives/test_redrive_from.py",),
    ),
    Mutant(
        guard="older versions leave the items of a fan-out alone",
        file=f"{PACKAGE}/adapters/dynamodb/items.py",
        old="or task.conditional or of_fan_out",
        new="or task.conditional",
        tests=("tests/unit/adapters/dynamodb/test_items_of_fan_outs.py",),
    ),
)
