"""The guards that everything else trusts, and what it looks like when each is missing."""

from typing import Final

from tests.mutants.guards import adding, changes, leases, rates, steps, telling

MUTANTS: Final = (
    *adding.GUARDS,
    *changes.GUARDS,
    *leases.GUARDS,
    *rates.GUARDS,
    *steps.GUARDS,
    *telling.GUARDS,
)
