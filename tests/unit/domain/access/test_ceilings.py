"""What a stage lets its tenants ask for."""

import pytest

from switchyard.domain.access.limits import Asked, Ceilings

STAGE = Ceilings(
    default_cost_usd=1,
    max_cost_usd=10,
    default_turns=5,
    max_turns=20,
    default_timeout_ms=60_000,
    max_timeout_ms=3_600_000,
    models=("small", "large"),
    tools=("Bash", "Read"),
)


@pytest.mark.parametrize(
    ("asked", "field", "allowed"),
    [
        (Asked(max_cost_usd=10.01), "maxCostUsd", "at most 10"),
        (Asked(max_turns=21), "maxTurns", "at most 20"),
        (Asked(timeout_ms=3_600_001), "timeout", "at most 3,600,000"),
        (Asked(model="dearest"), "model", "allowed: small, large"),
        (Asked(tools=["Read", "mcp__shell__run"]), "tools", "'mcp__shell__run' is not allowed"),
        (Asked(tools=["WebFetch(domain:x)"]), "tools", "'WebFetch' is not allowed"),
    ],
)
def test_what_is_above_a_ceiling_is_named_with_the_ceiling(
    asked: Asked, field: str, allowed: str
) -> None:
    [problem] = STAGE.problems_with(asked, at=("steps", 1))
    assert problem.path == ("steps", 1, field)
    assert allowed in problem.message


@pytest.mark.parametrize(
    "asked",
    [
        Asked(),
        Asked(max_cost_usd=10, max_turns=20, timeout_ms=3_600_000, model="small"),
        Asked(tools=["Read", "Bash(git log:*)"]),
    ],
)
def test_what_is_within_the_ceilings_is_accepted(asked: Asked) -> None:
    assert STAGE.problems_with(asked) == []


def test_every_problem_is_found_at_once() -> None:
    asked = Asked(max_cost_usd=99, max_turns=99, timeout_ms=10**9, model="x", tools=["a", "b", "a"])
    assert len(STAGE.problems_with(asked)) == 6


def test_without_lists_any_model_and_tool_may_be_named() -> None:
    assert Ceilings().problems_with(Asked(model="x", tools=["y"])) == []


def test_an_attempt_gets_the_default_or_what_it_asks_for_up_to_the_maximum() -> None:
    assert [STAGE.cost_usd(asked) for asked in (None, 2, 11)] == [1, 2, 10]
    assert [STAGE.turns(asked) for asked in (None, 6, 200)] == [5, 6, 20]
    assert [STAGE.timeout_ms(asked) for asked in (None, 5_000, 10**9)] == [60_000, 5_000, 3_600_000]


@pytest.mark.parametrize(
    "wrong",
    [
        {"default_cost_usd": 11, "max_cost_usd": 10},
        {"default_turns": 0},
        {"default_timeout_ms": 2, "max_timeout_ms": 1},
        {"max_open_tasks": 0},
    ],
)
def test_ceilings_that_make_no_sense_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="must be"):
        Ceilings(**wrong)  # type: ignore[arg-type]
