"""The list of guards is true; `make mutants` takes them out one by one."""

from collections.abc import Sequence

import pytest

from tests.collected import COLLECTED
from tests.mutants.guards import MUTANTS
from tests.mutants.mutant import ROOT, Mutant


def test_there_are_enough_and_each_has_a_name() -> None:
    assert len({mutant.guard for mutant in MUTANTS}) == len(MUTANTS) >= 16


@pytest.mark.parametrize("tests", sorted({mutant.tests for mutant in MUTANTS}), ids=" ".join)
def test_the_tests_of_a_guard_are_there(
    request: pytest.FixtureRequest, tests: Sequence[str]
) -> None:
    """This run must have collected the files of the tests: all of them, in `make test`."""
    files = [test for test in tests if test.startswith("tests/")]
    of_files = [name for name in request.config.stash[COLLECTED] if name.startswith(tuple(files))]
    words = tests[tests.index("-k") + 1].split(" or ") if "-k" in tests else [""]
    assert not of_files or any(word in name for name in of_files for word in words)


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.guard)
def test_a_guard_is_where_the_list_says(mutant: Mutant) -> None:
    planted = mutant.planted_in((ROOT / mutant.file).read_text())
    compile(planted, mutant.file, "exec")
    assert all((ROOT / test).exists() for test in mutant.tests if test.endswith(".py"))
