"""What is counted, and published, once."""

from typing import Final

from tests.mutants.guards.places import PACKAGE
from tests.mutants.mutant import Mutant

COUNTERS: Final = f"{PACKAGE}/adapters/dynamodb/counters.py"
COUNTER_TESTS: Final = ("tests/contract/events/test_counters.py", "-k", "simulated or two_who_take")

GUARDS: Final = (
    Mutant(
        guard="of two who would publish the first minutes one does",
        file=COUNTERS,
        old='condition="attribute_not_exists(#until_ms)"',
        new="condition=WHATEVER_IS_THERE",
        tests=COUNTER_TESTS,
    ),
    Mutant(
        guard="of two who would publish the same minutes one does",
        file=COUNTERS,
        old='condition="#until_ms = :last", values={"last": last_ms}',
        new='condition=":last = :last", values={"last": last_ms}',
        tests=COUNTER_TESTS,
    ),
    Mutant(
        guard="a minute that was published is not published again",
        file=COUNTERS,
        old="if last_ms >= until_ms:",
        new="if last_ms > until_ms:",
        tests=COUNTER_TESTS,
    ),
    Mutant(
        guard="an event that was there is not counted",
        file="lambdas/save_event/handler.py",
        old="retention=keeper.retention):",
        new="retention=keeper.retention) or True:",
        tests=("tests/lambdas/test_queue_handlers.py", "-k", "counted_once"),
    ),
)
