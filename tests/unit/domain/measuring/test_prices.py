import pytest

from switchyard.domain.measuring.prices import PRICES, Tokens, cost_of, output_tokens_for, price_of

A_MILLION = 1_000_000


@pytest.mark.parametrize(
    ("model", "reading", "writing", "cached"),
    [
        ("claude-opus-5-5", 4, 20, 0.20),
        ("claude-sonnet-5-5", 2, 10, 0.10),
        ("claude-haiku-5-5", 0.10, 0.50, 0.01),
        ("claude-opus-4-5", 5, 25, 0.50),
        ("claude-haiku-4-5", 1, 5, 0.10),
    ],
)
def test_a_million_tokens_of_each_kind(
    model: str, reading: float, writing: float, cached: float
) -> None:
    assert cost_of(model, Tokens(input=A_MILLION)).usd == pytest.approx(reading)
    assert cost_of(model, Tokens(output=A_MILLION)).usd == pytest.approx(writing)
    assert cost_of(model, Tokens(cache_read=A_MILLION)).usd == pytest.approx(cached)
    assert cost_of(model, Tokens(cache_creation=A_MILLION)).usd == pytest.approx(reading * 1.25)


def test_kinds_add_up() -> None:
    tokens = Tokens(input=1_000, output=200, cache_read=50_000, cache_creation=400)

    cost = cost_of("claude-haiku-4-5", tokens)

    assert cost.usd == pytest.approx(0.001 + 0.001 + 0.005 + 0.0005)
    assert cost.note is None


def test_a_model_with_a_date_costs_what_its_family_costs() -> None:
    assert price_of("claude-haiku-4-5-20251001") == PRICES["claude-haiku-4-5"]


@pytest.mark.parametrize("model", ["claude-haiku-4-5-20251001-x", "claude-haiku-4", "gpt", ""])
def test_an_unknown_model_has_no_cost_and_says_so(model: str) -> None:
    cost = cost_of(model, Tokens(input=5))

    assert cost.usd is None
    assert "has no price in the table of 2026-11" in (cost.note or "")
    assert output_tokens_for(1.0, model) is None


def test_a_long_input_of_haiku_is_known_to_be_dearer() -> None:
    assert cost_of("claude-haiku-5-5", Tokens(input=60_000, cache_read=40_000)).note is None
    longer = cost_of("claude-haiku-5-5", Tokens(input=60_000, cache_read=40_001))

    assert "above 100,000 input tokens" in (longer.note or "")
    assert longer.usd == pytest.approx(0.006 + 0.00040001)


def test_a_budget_buys_so_many_tokens() -> None:
    assert output_tokens_for(0.05, "claude-haiku-4-5") == 10_000
    assert output_tokens_for(0.000001, "claude-opus-5-5") == 0
