"""Prices of Claude's tokens: list prices in USD per million tokens, as read on `PRICES_READ_IN`.

Writing to the cache costs 1.25 times the input price for entries that live five minutes, and twice
the input price for those that live an hour; a web search of the API's own costs a cent
(https://platform.claude.com/docs/en/about-claude/pricing).
"""

import re
from dataclasses import dataclass
from typing import Final

PRICES_READ_IN: Final = "2026-11"
TOKENS_PER_PRICE: Final = 1_000_000
CACHE_CREATION_FACTOR: Final = 1.25
CACHE_CREATION_1H_FACTOR: Final = 2.0
WEB_SEARCH_USD: Final = 0.01

_DATE: Final = re.compile(r"-\d{8}\Z")


@dataclass(frozen=True, slots=True, kw_only=True)
class Tokens:
    input: int = 0
    """The input tokens neither read from the cache nor written to it."""
    output: int = 0
    cache_read: int = 0
    cache_creation: int = 0
    cache_creation_1h: int = 0
    """The tokens of `cache_creation` that live an hour."""

    @property
    def read(self) -> int:
        return self.input + self.cache_read + self.cache_creation


@dataclass(frozen=True, slots=True)
class Price:
    input: float
    output: float
    cache_read: float
    dearer_above: int | None = None
    """The number of input tokens above which they cost more; how much more was not published."""

    def of(self, tokens: Tokens) -> float:
        five_minutes = tokens.cache_creation - tokens.cache_creation_1h
        weighed = (
            tokens.input * self.input
            + tokens.output * self.output
            + tokens.cache_read * self.cache_read
            + five_minutes * self.input * CACHE_CREATION_FACTOR
            + tokens.cache_creation_1h * self.input * CACHE_CREATION_1H_FACTOR
        )
        return weighed / TOKENS_PER_PRICE


PRICES: Final = {
    "claude-opus-5-5": Price(4, 20, 0.20),
    "claude-sonnet-5-5": Price(2, 10, 0.10),
    "claude-haiku-5-5": Price(0.10, 0.50, 0.01, dearer_above=100_000),
    "claude-opus-4-5": Price(5, 25, 0.50),
    "claude-haiku-4-5": Price(1, 5, 0.10),
}


@dataclass(frozen=True, slots=True)
class Cost:
    usd: float | None
    """The cost; `None` for a model without a price here."""
    note: str | None = None


def without_date(model: str) -> str:
    """A model's id may end in its date."""
    return _DATE.sub("", model)


def price_of(model: str) -> Price | None:
    return PRICES.get(without_date(model))


def cost_of(model: str, tokens: Tokens) -> Cost:
    price = price_of(model)
    if price is None:
        return Cost(None, f"{model} has no price in the table of {PRICES_READ_IN}")
    if price.dearer_above is not None and tokens.read > price.dearer_above:
        note = f"{model} costs more than this above {price.dearer_above:,} input tokens"
        return Cost(price.of(tokens), note)
    return Cost(price.of(tokens))


def output_tokens_for(usd: float, model: str) -> int | None:
    """Return the tokens of an answer for that much; `None` for a model without a price."""
    price = price_of(model)
    return None if price is None else int(usd * TOKENS_PER_PRICE / price.output)
