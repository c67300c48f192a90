"""Invents numbers within a schema's bounds."""

import math
from collections.abc import Mapping
from typing import Any

from worker.agents.dice import Dice

SPAN = 100  # how far an open range reaches
STEPS = 1000  # how finely a range of real numbers is divided
LOWER_LIMITS = ("minimum", "exclusiveMinimum")
UPPER_LIMITS = ("maximum", "exclusiveMaximum")


def integer_within(schema: Mapping[str, Any], dice: Dice) -> int:
    step: int = max(1, math.ceil(schema.get("multipleOf", 1)))
    low, high = _bounds(schema)
    lowest = math.ceil(low)
    if lowest == schema.get("exclusiveMinimum"):
        lowest += 1
    highest = math.floor(high)
    if highest == schema.get("exclusiveMaximum"):
        highest -= 1
    first = -(-lowest // step)
    return step * dice.roll(first, max(first, highest // step))


def number_within(schema: Mapping[str, Any], dice: Dice) -> float:
    if "multipleOf" in schema:
        return float(schema["multipleOf"]) * _multiplier(schema, dice)
    low, high = _bounds(schema)
    if low == high:
        return low
    # Neither end is rolled: each may be excluded.
    return low + (high - low) * (dice.roll(1, STEPS - 1) / STEPS)


def _multiplier(schema: Mapping[str, Any], dice: Dice) -> int:
    step = schema["multipleOf"]
    limits = (*LOWER_LIMITS, *UPPER_LIMITS)
    scaled = {name: limit / step for name, limit in schema.items() if name in limits}
    return integer_within(scaled, dice)


def _bounds(schema: Mapping[str, Any]) -> tuple[float, float]:
    lows = [schema[name] for name in LOWER_LIMITS if name in schema]
    highs = [schema[name] for name in UPPER_LIMITS if name in schema]
    if not lows and not highs:
        return 0, SPAN
    low = max(lows) if lows else min(0, min(highs) - SPAN)
    return low, min(highs) if highs else low + SPAN
