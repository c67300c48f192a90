"""How many requests a key may make, and which keys open anything."""

from typing import Final

from tests.mutants.guards.places import PACKAGE, SIMULATED
from tests.mutants.mutant import Mutant

RATES: Final = f"{PACKAGE}/adapters/dynamodb/access/limits.py"
JUDGE: Final = f"{PACKAGE}/domain/access/limits.py"
KEYS: Final = f"{PACKAGE}/usecases/access/api_keys.py"
DEFINITIONS: Final = f"{PACKAGE}/adapters/dynamodb/definition_store.py"
RATE_TESTS: Final = (
    "tests/contract/access/test_request_rates.py",
    "tests/unit/adapters/dynamodb/test_request_rates.py",
    "-k",
    "simulated or between",
)
JUDGE_TESTS: Final = ("tests/unit/domain/access/test_rates.py",)
KEY_TESTS: Final = ("tests/unit/usecases/access/test_api_keys.py",)
DEFINITION_TESTS: Final = ("tests/contract/registry/test_definition_store.py", *SIMULATED)

OPEN_TASKS: Final = f"{PACKAGE}/adapters/dynamodb/access/limits.py"
OPEN_TASKS_TESTS: Final = ("tests/contract/access/test_open_tasks.py", *SIMULATED)
LIMIT: Final = f"{PACKAGE}/usecases/access/limits.py"
LIMIT_TESTS: Final = ("tests/unit/usecases/access/test_open_tasks.py",)
LEFT_OVER: Final = f"{PACKAGE}/domain/access/limits.py"
TENANTS: Final = f"{PACKAGE}/domain/access/tenants.py"
TENANT_TESTS: Final = ("tests/unit/domain/access/test_tenants.py",)

GUARDS: Final = (
    Mutant(
        guard="what arrives late of an earlier run is not counted instead of a later one",
        file=OPEN_TASKS,
        old="OR #run < :set_run",
        new="OR #run <> :set_run",
        tests=OPEN_TASKS_TESTS,
    ),
    Mutant(
        guard="what arrives late of a run makes no job smaller",
        file=OPEN_TASKS,
        old=" AND #tasks <= :set_tasks",
        new=" AND :set_tasks = :set_tasks",
        tests=OPEN_TASKS_TESTS,
    ),
    Mutant(
        guard="the end of an earlier run closes no later one",
        file=OPEN_TASKS,
        old="OR #run <= :run",
        new="OR :run = :run",
        tests=OPEN_TASKS_TESTS,
    ),
    Mutant(
        guard="a tenant has no more open tasks than the stage allows",
        file=LIMIT,
        old="        if problems:\n            raise",
        new="        if not problems:\n            raise",
        tests=LIMIT_TESTS,
    ),
    Mutant(
        guard="a job that is being submitted is not taken for one that was left over",
        file=LEFT_OVER,
        old="return now_ms - counted.since_ms > BEING_SUBMITTED_MS",
        new="return True",
        tests=LIMIT_TESTS,
    ),
    Mutant(
        guard="a job that is redriven is not taken for one that was left over",
        file=LEFT_OVER,
        old=" and counted.run <= job.run",
        new="",
        tests=LIMIT_TESTS,
    ),
    Mutant(
        guard="only listed users press buttons",
        file=TENANTS,
        old="return user in listed or ANY in listed",
        new="return bool(user)",
        tests=TENANT_TESTS,
    ),
    Mutant(
        guard="a burst has an end, however many come at once",
        file=RATES,
        old=" AND #free_at_us <= :latest",
        new=" AND :latest = :latest",
        tests=RATE_TESTS,
    ),
    Mutant(
        guard="a key is idle only once it is",
        file=RATES,
        old="AND #free_at_us <= :now",
        new="AND :now = :now",
        tests=RATE_TESTS,
    ),
    Mutant(
        guard="a day has an end, however many come at once",
        file=RATES,
        old='"#day = :day AND #requests < :per_day"',
        new='"#day = :day AND :per_day = :per_day"',
        tests=RATE_TESTS,
    ),
    Mutant(
        guard="a new day brings no second burst",
        file=JUDGE,
        old="use = replace(use, day=today, requests=0)",
        new="use = Use(free_at_us=now_us, day=today, requests=0)",
        tests=RATE_TESTS,
    ),
    Mutant(
        guard="who was idle for long has saved nothing up",
        file=JUDGE,
        old="max(use.free_at_us, now_us) + limits.step_us",
        new="use.free_at_us + limits.step_us",
        tests=JUDGE_TESTS,
    ),
    Mutant(
        guard="a revoked key opens nothing",
        file=KEYS,
        old=" or found.revoked_at_ms is not None",
        new="",
        tests=KEY_TESTS,
    ),
    Mutant(
        guard="what was deleted is not registered",
        file=DEFINITIONS,
        old="return _DELETED not in item",
        new="return bool(item)",
        tests=DEFINITION_TESTS,
    ),
)
