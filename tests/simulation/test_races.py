"""A few of the races of `make races`: nothing is lost, nothing runs twice, all ends as it must."""

import pytest

from tests.simulation.races.run import KINDS, race

SEEDS = range(6)


@pytest.mark.parametrize("kind", list(KINDS))
def test_no_race_is_lost(kind: str) -> None:
    results = [race(kind, seed) for seed in SEEDS]
    assert {r.seed: r.problems for r in results if r.problems} == {}
    assert any(result.crashes for result in results)


def test_the_same_race_ends_the_same() -> None:
    assert race("settling", 1) == race("settling", 1)
