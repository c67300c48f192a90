"""The worked example of a downstream effect: once, and only by who holds the lease."""

from typing import Final

from tests.mutants.mutant import Mutant

EFFECTS: Final = "switchyard_scenarios/switched/effects.py"
EFFECT_TESTS: Final = ("tests/scenarios/test_framework_effects.py",)

GUARDS: Final = (
    Mutant(
        guard="an attempt at a message is counted once",
        file=EFFECTS,
        old="OR (fence < :fence AND #status <> :completed)",
        new="OR (fence <= :fence AND #status <> :completed)",
        tests=EFFECT_TESTS,
    ),
    Mutant(
        guard="a completed message is not begun again",
        file=EFFECTS,
        old="OR (fence < :fence AND #status <> :completed)",
        new="OR (fence < :fence AND :completed = :completed)",
        tests=EFFECT_TESTS,
    ),
    Mutant(
        guard="an attempt at a completed message is counted once",
        file=EFFECTS,
        old='is_done = "fence < :fence',
        new='is_done = "fence <= :fence',
        tests=EFFECT_TESTS,
    ),
    Mutant(
        guard="an effect that took place does not take place again",
        file=EFFECTS,
        old='"ConditionExpression": "attribute_not_exists(message_id)"',
        new='"ConditionExpression": "attribute_not_exists(#nothing)",'
        ' "ExpressionAttributeNames": {"#nothing": "nothing"}',
        tests=EFFECT_TESTS,
    ),
    Mutant(
        guard="only the latest attempt at a message has its effect",
        file=EFFECTS,
        old='_HELD: Final = "#status = :started AND fence = :fence"',
        new='_HELD: Final = "#status = :started AND :fence = :fence"',
        tests=EFFECT_TESTS,
    ),
    Mutant(
        guard="a late failure does not replace a completion",
        file=EFFECTS,
        old='_HELD: Final = "#status = :started AND fence = :fence"',
        new='_HELD: Final = ":started = :started AND fence = :fence"',
        tests=EFFECT_TESTS,
    ),
    Mutant(
        guard="a message is refused only before any attempt",
        file=EFFECTS,
        old='"attribute_not_exists(message_id)",\n            said | {":digest"',
        new='"attribute_not_exists(nothing)",\n            said | {":digest"',
        tests=EFFECT_TESTS,
    ),
)
