"""Guards of when events are emitted, messages parked and messages deleted."""

from typing import Final

from tests.mutants.guards.places import (
    BUS,
    BUS_TESTS,
    FOLD,
    FOLD_TESTS,
    LOG_TESTS,
    PACKAGE,
    RECOVERY,
    TABLE,
)
from tests.mutants.mutant import Mutant

GUARDS: Final = (
    Mutant(
        guard="an event is written once",
        file=TABLE,
        old='"ConditionExpression": "attribute_not_exists(#PK)",',
        new='"ConditionExpression": "attribute_not_exists(#PK) OR attribute_exists(#PK)",',
        tests=LOG_TESTS,
    ),
    Mutant(
        guard="refused events are sent again",
        file=BUS,
        old='if not answer["FailedEntryCount"]:',
        new='if answer["FailedEntryCount"] < len(entries):',
        tests=BUS_TESTS,
    ),
    Mutant(
        guard="accepted events are not sent again",
        file=BUS,
        old='for entry, result in results if "ErrorCode" in result]',
        new="for entry, result in results]",
        tests=BUS_TESTS,
    ),
    Mutant(
        guard="a message is deleted last",
        file="switchyard_worker/parent/receive/deliveries.py",
        old="""            if await self._answer(received):
                self.screening.deletions.add(received)
""",
        new="""            self.screening.deletions.add(received)
            await self._answer(received)
""",
        tests=RECOVERY,
    ),
    Mutant(
        guard="poison is kept before it is deleted",
        file="switchyard_worker/parent/receive/deliveries.py",
        old="            await self.unanswered.park(received, problem)\n",
        new="",
        tests=("tests/worker/parent/receive/test_parked_messages.py", "-k", "harms_none"),
    ),
    Mutant(
        guard="two who adopt at once do not swap their inputs",
        file=f"{PACKAGE}/adapters/dynamodb/payloads.py",
        old="hashlib.sha256(content).hexdigest()",
        new='hashlib.sha256(b"").hexdigest()',
        tests=("tests/unit/adapters/dynamodb/test_lost_adoptions.py",),
    ),
    Mutant(
        guard="a dead letter fails no running task",
        file=f"{PACKAGE}/domain/tasks/claim_refusals.py",
        old="task.lease_until_ms >= now_ms\n",
        new="task.lease_until_ms > now_ms\n",
        tests=("tests/unit/domain/tasks/test_dead_letters.py",),
    ),
    Mutant(
        guard="a terminal event absorbs",
        file=FOLD,
        old="    if ends:\n        return min(ends, key=lambda one: one.step)\n",
        new="",
        tests=FOLD_TESTS,
    ),
)
