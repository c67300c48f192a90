"""Tasks that no worker runs, and conditions."""

from typing import Final

from tests.mutants.guards.places import HELD_TRANSITIONS, PACKAGE, TASK_TRANSITIONS
from tests.mutants.mutant import Mutant

HELD_TESTS: Final = ("tests/contract/tasks/test_held_tasks.py",)
DECIDE_TESTS: Final = ("tests/unit/usecases/jobs/test_decide_task.py",)
CONDITION_TESTS: Final = ("tests/unit/usecases/dispatching/test_conditions.py",)
SIGNAL_TESTS: Final = ("tests/unit/usecases/signals/test_match_event.py",)
MATCH_EVENT: Final = f"{PACKAGE}/usecases/signals/match_event.py"
READINESS: Final = f"{PACKAGE}/domain/tasks/readiness.py"

GUARDS: Final = (
    Mutant(
        guard="no worker claims a task that is held",
        file=TASK_TRANSITIONS,
        old='            Absent("kind"),\n',
        new="",
        tests=HELD_TESTS,
    ),
    Mutant(
        guard="a task is held once",
        file=HELD_TRANSITIONS,
        old='name="hold",\n        guard=(_READY, equal("run", task.run)),',
        new='name="hold",\n        guard=(equal("run", task.run),),',
        tests=HELD_TESTS,
    ),
    Mutant(
        guard="of two decisions the first counts",
        file=HELD_TRANSITIONS,
        old="""            equal("state", TaskState.HELD),
            equal("run", task.run),
            equal("fence", task.fence),
""",
        new="""            equal("run", task.run),
""",
        tests=HELD_TESTS,
    ),
    Mutant(
        guard="a request that is not the one before is not answered as it was",
        file=HELD_TRANSITIONS,
        old='            same("decision", decision),\n',
        new="",
        tests=HELD_TESTS,
    ),
    Mutant(
        guard="a decision on something else is refused",
        file=f"{PACKAGE}/usecases/jobs/decide_task.py",
        old="request.basis != held.basis",
        new="False",
        tests=DECIDE_TESTS,
    ),
    Mutant(
        guard="a held task is told before it is held",
        file=f"{PACKAGE}/usecases/dispatching/held_tasks.py",
        old="self.emitter.emit(*[task_events.held(task, holds[task.ref]) for task in some])",
        new="pass",
        tests=DECIDE_TESTS,
    ),
    Mutant(
        guard="a decision after the time is refused",
        file=f"{PACKAGE}/domain/tasks/holds.py",
        old="    if task.held_until_ms <= now_ms:",
        new="    if False:",
        tests=DECIDE_TESTS,
    ),
    Mutant(
        guard="a failure that the dispatcher decides is followed by it",
        file=READINESS,
        old="or (task.state is TaskState.FAILED and decided_without_run(task))",
        new="or False",
        tests=CONDITION_TESTS,
    ),
    Mutant(
        guard="a relay says whether any of those behind it completed",
        file=READINESS,
        old="none_completed=bool(relay.parent_count) and not _any_completed(relay, parents),",
        new="none_completed=True,",
        tests=CONDITION_TESTS,
    ),
    Mutant(
        guard="an event is stored before its signal is held",
        file=f"{PACKAGE}/usecases/dispatching/held_tasks.py",
        old="if self.subscriber.subscribe(task, holds[task.ref])]",
        new="]",
        tests=SIGNAL_TESTS,
    ),
    Mutant(
        guard="an event from before a signal was ready does not count",
        file=MATCH_EVENT,
        old="if one.since_ms <= came_at_ms and _wants(one, event):",
        new="if _wants(one, event):",
        tests=SIGNAL_TESTS,
    ),
    Mutant(
        guard="an event counts for the run that waits for it",
        file=MATCH_EVENT,
        old="run=one.run, request_id=event.id)",
        new="request_id=event.id)",
        tests=SIGNAL_TESTS,
    ),
    Mutant(
        guard="an event counts once",
        file=MATCH_EVENT,
        old="run=one.run, request_id=event.id)",
        new="run=one.run)",
        tests=SIGNAL_TESTS,
    ),
    Mutant(
        guard="an event for a signal that is not held yet comes back",
        file=MATCH_EVENT,
        old="            if self._is_early(one):",
        new="            if False:",
        tests=SIGNAL_TESTS,
    ),
    Mutant(
        guard="a signal is ended only by events for its tenant",
        file=f"{PACKAGE}/contracts/signals/__init__.py",
        old='named = self.detail.get("tenantId")',
        new='named = "acme"',
        tests=SIGNAL_TESTS,
    ),
)
