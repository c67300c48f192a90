"""A slice of the model: `make model` explores the whole of it."""

import pytest

from tests.model.configurations import CONFIGURATIONS, Configuration
from tests.model.explorer import Explorer
from tests.model.invisible import REASONS
from tests.model.planted import PACKAGE, RUN_BY_THE_MODEL, LeftOut, planted, rows
from tests.model.small_configurations import SMALL
from tests.mutants.mutant import ROOT

STATES = 1_500


@pytest.mark.parametrize("configuration", SMALL, ids=lambda one: one.name)
def test_no_promise_is_broken_in_the_nearest_states(configuration: Configuration) -> None:
    report = Explorer(configuration).explore(at_most=STATES)
    assert report.violation is None
    assert report.complete or report.states >= STATES


def test_a_whole_configuration_is_explored() -> None:
    (configuration,) = (one for one in SMALL if one.name == "small clocks")
    report = Explorer(configuration).explore()
    assert report.complete
    assert report.violation is None


def test_the_main_configuration_is_as_large_as_the_protocol_says() -> None:
    main = CONFIGURATIONS[0]
    assert (main.name, main.workers, len(main.tasks)) == ("main", 3, 2)


@pytest.mark.parametrize(
    "guard",
    [
        "a settlement needs the lease",
        "a release needs the lease",
        "what is settled is not claimed again",
        "attempts have a maximum",
        "giving up raises the fence",
    ],
)
def test_a_missing_guard_is_caught(guard: str) -> None:
    (row,) = (row for row in rows() if row.guard == guard)
    with planted(row):
        assert Explorer(SMALL[0]).explore(at_most=STATES).violation
    assert Explorer(SMALL[0]).explore(at_most=200).violation is None


def test_a_violation_is_shown_step_by_step() -> None:
    (configuration,) = (one for one in SMALL if one.name == "small clocks")
    missing = LeftOut("task", "claim", "attempt < max_attempts")
    report = Explorer(configuration, missing.mutation).explore()
    assert report.violation is not None
    assert report.violation.startswith("I5: ")
    assert report.trace[0].startswith("1. a worker that is idle receives a and claims it")
    assert "attempt = 3" in report.trace[-1]


def test_a_reason_why_a_bug_is_not_seen_is_about_a_bug() -> None:
    guards = {row.guard for row in rows()}
    assert all(name in guards or " without: " in name for name in REASONS)


def test_every_file_that_the_model_runs_is_there() -> None:
    assert all((ROOT / PACKAGE / file).is_file() for file in RUN_BY_THE_MODEL)
