"""The guards that everything else trusts, and what it looks like when each is missing."""

from typing import Final

from tests.mutants.guards import leases, steps, telling

MUTANTS: Final = (*leases.GUARDS, *steps.GUARDS, *telling.GUARDS)
