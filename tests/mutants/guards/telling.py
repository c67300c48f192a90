"""What is told, kept and deleted, and when."""

from typing import Final

from tests.mutants.guards.places import (
    BUS,
    BUS_TESTS,
    FOLD,
    FOLD_TESTS,
    LOG_TESTS,
    RECOVERY,
    TABLE,
)
from tests.mutants.mutant import Mutant

GUARDS: Final = (
    Mutant(
        guard="an event is written once",
        file=TABLE,
        old='ConditionExpression="attribute_not_exists(#PK)",',
        new='ConditionExpression="attribute_not_exists(#PK) OR attribute_exists(#PK)",',
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
        file="worker/delivery.py",
        old="""            if await self._answer(received):
                await self._ports.offload(self._ports.inbox.delete, received)
""",
        new="""            await self._ports.offload(self._ports.inbox.delete, received)
            await self._answer(received)
""",
        tests=RECOVERY,
    ),
    Mutant(
        guard="a terminal event absorbs",
        file=FOLD,
        old="    if ends:\n        return min(ends, key=lambda one: one.step)\n",
        new="",
        tests=FOLD_TESTS,
    ),
)
