"""What may replace a version of an entity."""

from typing import Final

from tests.mutants.mutant import Mutant

RECONCILIATION: Final = "switchyard_scenarios/switched/reconciliation.py"
RECONCILIATION_TESTS: Final = ("tests/scenarios/test_reconciliation.py",)

GUARDS: Final = (
    Mutant(
        guard="an entity is written only by a newer version",
        file=RECONCILIATION,
        old='"attribute_not_exists(entity_id) OR #version < :version"',
        new='"attribute_not_exists(entity_id) OR #version <> :version"',
        tests=RECONCILIATION_TESTS,
    ),
    Mutant(
        guard="a version that is no newer is ignored",
        file=RECONCILIATION,
        old="    if coming > known:\n",
        new="    if coming >= known:\n",
        tests=RECONCILIATION_TESTS,
    ),
)
