"""The guards that everything else trusts, and what it looks like when each is missing."""

from typing import Final

from tests.mutants.guards import (
    adding,
    alerting,
    changes,
    effects,
    leases,
    measuring,
    pressing,
    rates,
    steps,
    submitting,
    telling,
    versions,
)

MUTANTS: Final = (
    *adding.GUARDS,
    *alerting.GUARDS,
    *changes.GUARDS,
    *effects.GUARDS,
    *leases.GUARDS,
    *measuring.GUARDS,
    *pressing.GUARDS,
    *rates.GUARDS,
    *steps.GUARDS,
    *submitting.GUARDS,
    *telling.GUARDS,
    *versions.GUARDS,
)
