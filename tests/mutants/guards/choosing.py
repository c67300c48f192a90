"""How a worker chooses its tasks, and how nothing is left without a token."""

from typing import Final

from tests.mutants.guards.places import DISPATCH, PACKAGE, TASK_TRANSITIONS
from tests.mutants.mutant import Mutant

CLOCKS: Final = f"{PACKAGE}/domain/scheduling/clocks.py"
SWEEP_GROUPS: Final = f"{PACKAGE}/usecases/scheduling/sweep_groups.py"
TOKENS: Final = "switchyard_worker/parent/receive/tokens.py"
CLOCK_TESTS: Final = ("tests/unit/domain/scheduling/test_clocks.py",)
TOKEN_TESTS: Final = ("tests/worker/parent/receive/test_tokens.py",)
SWEEP_TESTS: Final = ("tests/unit/usecases/scheduling/test_sweep_groups.py",)
FAIRNESS: Final = ("tests/simulation/test_fairness.py",)

GUARDS: Final = (
    Mutant(
        guard="a task that costs nothing is charged",
        file=CLOCKS,
        old="return max(cost_usd, LEAST_COST_USD) / weight",
        new="return cost_usd / weight",
        tests=CLOCK_TESTS,
    ),
    Mutant(
        guard="a tenant that comes back begins at the floor",
        file=CLOCKS,
        old="return max(found.clock, self.floor) if found.idle else found.clock",
        new="return found.clock",
        tests=CLOCK_TESTS,
    ),
    Mutant(
        guard="the floor never falls",
        file=CLOCKS,
        old="return replace(after, floor=max(after.floor, clock))",
        new="return replace(after, floor=clock)",
        tests=CLOCK_TESTS,
    ),
    Mutant(
        guard="a tenant is marked before its tasks are in the index",
        file=DISPATCH,
        old="        with self.marks.around(places_of(run)):\n",
        new="        if True:\n",
        tests=FAIRNESS,
    ),
    Mutant(
        guard="a task is in the index once its event was emitted",
        file=TASK_TRANSITIONS,
        old='{"state": TaskState.READY, "ready_at_ms": now_ms}\n',
        new='{"state": TaskState.READY, "ready_at_ms": now_ms} | ready_key(task, now_ms)\n',
        tests=("tests/contract/scheduling/test_ready_index.py", "-k", "simulated"),
    ),
    Mutant(
        guard="an older version's task gets its key before another is run",
        file=TOKENS,
        old="            await self._enter_index(token.task)\n",
        new="            pass\n",
        tests=TOKEN_TESTS,
    ),
    Mutant(
        guard="a token is sent again while others were faster",
        file=TOKENS,
        old="            await self.send_again(token, delayed=True)\n",
        new="            pass\n",
        tests=TOKEN_TESTS,
    ),
    Mutant(
        guard="the named task is the last try",
        file=TOKENS,
        old="if not token.spent and token.ref not in token.tried:",
        new="if False:",
        tests=TOKEN_TESTS,
    ),
    Mutant(
        guard="a token is kept until the named task needs it no more",
        file="switchyard_worker/parent/receive/deliveries.py",
        old="            if token.spent or not await self.tokens.look(token):\n",
        new="            if True:\n",
        tests=("tests/worker/parent/receive/test_deliveries.py", "-k", "named"),
    ),
    Mutant(
        guard="a mark stays while there is a key",
        file=SWEEP_GROUPS,
        old="        if self.index.holds_any(group, marked.tenant):\n            return False\n",
        new="",
        tests=SWEEP_TESTS,
    ),
    Mutant(
        guard="a young mark is not cleared",
        file=SWEEP_GROUPS,
        old="if since is None or self.clock.now_ms() - since < MARKED_FOR_MS:",
        new="if since is None:",
        tests=SWEEP_TESTS,
    ),
)
