from pathlib import Path

import pytest

from benchmarks import cold_starts
from benchmarks.cold_starts import BOTO3_MS, ColdStart, Import, least, verbs

AN_IMPORT = Import(cpu_ms=300, wall_ms=400)


def test_a_folder_with_a_handler_is_a_function(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for verb in ("sweep", "authorize"):
        (tmp_path / "lambdas" / verb).mkdir(parents=True)
        (tmp_path / "lambdas" / verb / "handler.py").touch()
    (tmp_path / "lambdas" / "no_function").mkdir()
    monkeypatch.setattr(cold_starts, "ROOT", tmp_path)

    assert verbs() == ["authorize", "sweep"]


def test_the_api_may_take_longer_than_the_others() -> None:
    between = 1 + 400 / BOTO3_MS
    assert ColdStart("api", AN_IMPORT, between).within_budget
    assert not ColdStart("sweep", AN_IMPORT, between).within_budget


def test_what_counts_is_what_comes_beyond_boto3() -> None:
    most = ColdStart("sweep", AN_IMPORT, 1.0).most
    assert ColdStart("sweep", AN_IMPORT, 1 + most - 0.01).within_budget
    assert not ColdStart("sweep", AN_IMPORT, 1 + most + 0.01).within_budget
    assert f"0.50 of {most:.2f} allowed" in str(ColdStart("sweep", AN_IMPORT, 1.5))


def test_of_several_rounds_the_least_of_each_time_counts() -> None:
    rounds = [Import(cpu_ms=250, wall_ms=500), AN_IMPORT]
    assert least(rounds) == Import(cpu_ms=250, wall_ms=400)
