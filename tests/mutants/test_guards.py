"""The list of guards is true; `make mutants` takes them out one by one."""

import pytest

from tests.mutants.guards import MUTANTS
from tests.mutants.mutant import ROOT, Mutant


def test_there_are_enough_and_each_has_a_name() -> None:
    assert len({mutant.guard for mutant in MUTANTS}) == len(MUTANTS) >= 16


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.guard)
def test_a_guard_is_where_the_list_says(mutant: Mutant) -> None:
    planted = mutant.planted_in((ROOT / mutant.file).read_text())
    compile(planted, mutant.file, "exec")
    assert all((ROOT / test).exists() for test in mutant.tests if test.endswith(".py"))
