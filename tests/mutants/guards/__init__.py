"""The guards that everything else trusts, and what it looks like when each is missing."""

from typing import Final

from tests.mutants.guards import (
    adding,
    alerting,
    changes,
    choosing,
    commitments,
    effects,
    emitting,
    fanning_out,
    holding,
    leases,
    machines,
    measuring,
    nesting,
    pressing,
    rates,
    steps,
    submitting,
    versions,
)

MUTANTS: Final = (
    *adding.GUARDS,
    *alerting.GUARDS,
    *changes.GUARDS,
    *choosing.GUARDS,
    *commitments.GUARDS,
    *effects.GUARDS,
    *fanning_out.GUARDS,
    *holding.GUARDS,
    *leases.GUARDS,
    *machines.GUARDS,
    *measuring.GUARDS,
    *nesting.GUARDS,
    *pressing.GUARDS,
    *rates.GUARDS,
    *steps.GUARDS,
    *submitting.GUARDS,
    *emitting.GUARDS,
    *versions.GUARDS,
)
