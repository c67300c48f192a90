"""Where the guards are, and the tests that watch them."""

from typing import Final

PACKAGE: Final = "layers/shared/python/switchyard"
EDGE_TRANSITIONS: Final = f"{PACKAGE}/domain/tasks/edge_transitions.py"
HELD_TRANSITIONS: Final = f"{PACKAGE}/domain/tasks/held_transitions.py"
TASK_TRANSITIONS: Final = f"{PACKAGE}/domain/tasks/transitions.py"
JOB_TRANSITIONS: Final = f"{PACKAGE}/domain/jobs/transitions.py"
TRANSITION_WRITES: Final = f"{PACKAGE}/adapters/dynamodb/transition_writes.py"
GRAPH: Final = f"{PACKAGE}/adapters/dynamodb/task_graph.py"
TABLE: Final = f"{PACKAGE}/adapters/dynamodb/table.py"
BUS: Final = f"{PACKAGE}/adapters/eventbridge.py"
DISPATCH: Final = f"{PACKAGE}/usecases/dispatching/dispatch_task.py"
EDGES: Final = f"{PACKAGE}/usecases/dispatching/edge_remover.py"
SWEEP: Final = f"{PACKAGE}/usecases/dispatching/sweep.py"
SWEEPING: Final = f"{PACKAGE}/domain/jobs/overdue.py"
FOLD: Final = f"{PACKAGE}/domain/events/fold.py"
TASK: Final = f"{PACKAGE}/domain/tasks/task.py"
SIMULATED: Final = ("-k", "simulated")
LEASE_TESTS: Final = ("tests/contract/tasks/test_task_leases.py", *SIMULATED)
SIGNS_TESTS: Final = ("tests/contract/tasks/test_life_signs.py", *SIMULATED)
STATE_TESTS: Final = ("tests/contract/jobs/test_every_state.py", *SIMULATED)
GRAPH_TESTS: Final = ("tests/contract/tasks/test_task_graph.py", *SIMULATED)
OVERDUE_TESTS: Final = ("tests/contract/tasks/test_overdue.py", *SIMULATED)
JOB_TESTS: Final = ("tests/contract/jobs/test_job_store.py", *SIMULATED)
LOG_TESTS: Final = ("tests/contract/events/test_event_log.py", *SIMULATED)
BUS_TESTS: Final = ("tests/contract/events/test_event_bus.py", "-k", "moto")
READ_BACK_TESTS: Final = ("tests/unit/adapters/dynamodb/test_read_back.py",)
FOLD_TESTS: Final = ("tests/unit/domain/events/test_fold.py",)
DISPATCH_TESTS: Final = (
    "tests/unit/usecases/dispatching/test_dispatch_task.py",
    "tests/unit/usecases/dispatching/test_dispatch_together.py",
    "tests/unit/usecases/dispatching/test_dispatch_batch.py",
)
SWEEP_TESTS: Final = ("tests/unit/usecases/dispatching/test_sweep.py",)
STORMS: Final = ("tests/simulation/test_storms.py", "-k", "invariant")
ZOMBIES: Final = ("tests/simulation/test_zombies.py",)
RECOVERY: Final = ("tests/simulation/test_recovery.py",)
