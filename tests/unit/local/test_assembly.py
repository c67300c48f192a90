"""Synthesized stacks are reused for the same sources, and only then."""

from pathlib import Path

import pytest

from switchyard_local.deployment.assembly import SHARED_VARIABLE, Assembly
from switchyard_local.home import Home

TEMPLATE = "stack.template.json"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    monkeypatch.delenv(SHARED_VARIABLE, raising=False)  # a run of all tests shares assemblies
    return a_home(tmp_path / "cloud")


def a_home(folder: Path) -> Home:
    home = Home(folder)
    home.assembly.mkdir(parents=True)
    return home


def synthesized(home: Home, sources: str) -> Path:
    assembly = Assembly(home, sources)
    (assembly.begin() / TEMPLATE).write_text(sources)
    return assembly.finish()


def test_nothing_is_reused_before_the_first_synthesis(home: Home) -> None:
    assert Assembly(home, "a").folder is None


def test_the_same_sources_are_synthesized_once(home: Home) -> None:
    made = synthesized(home, "a")

    assert Assembly(home, "a").folder == made == home.assembly
    assert Assembly(home, "b").folder is None


def test_what_an_interrupted_synthesis_left_is_not_reused(home: Home) -> None:
    synthesized(home, "a")

    Assembly(home, "b").begin()

    assert Assembly(home, "a").folder is None
    assert Assembly(home, "b").folder is None


def test_what_another_version_synthesized_into_the_same_folder_is_not_reused(home: Home) -> None:
    synthesized(home, "a")

    (home.assembly / TEMPLATE).write_text("of an older version, which knows no stamps")

    assert Assembly(home, "a").folder is None


def test_clouds_share_a_folder_of_assemblies(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(SHARED_VARIABLE, str(tmp_path / "shared"))
    made = synthesized(home, "a")
    other = a_home(tmp_path / "other")

    assert Assembly(other, "a").folder == made
    assert (made / TEMPLATE).read_text() == "a"
    assert synthesized(other, "a") == other.assembly  # it was synthesizing already
    assert Assembly(home, "b").folder is None
