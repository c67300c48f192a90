"""Invents a value that satisfies a JSON Schema, the same one for the same seed.

Covers what definitions use: const, enum, examples, default, local references, combinations,
objects, arrays, bounds and common formats. What it does not know (`pattern`, `not`, `if`) it
ignores; the worker validates the answer like any other and then says so.
"""

import hashlib
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeVar

Schema = Mapping[str, Any]

DEEPEST = 6  # below this only what is required is invented, so that recursive schemas end
TRIES_FOR_UNIQUE = 30


T = TypeVar("T")


class Dice:
    def __init__(self, seed: str) -> None:
        self._seed = seed.encode("utf-8", "surrogatepass")
        self._rolls = 0

    def roll(self, low: int, high: int) -> int:
        """Return an integer from `low` to `high`, both included."""
        self._rolls += 1
        digest = hashlib.blake2b(self._seed, digest_size=8, salt=self._rolls.to_bytes(8, "big"))
        return low + int.from_bytes(digest.digest(), "big") % (high - low + 1)

    def pick(self, options: Sequence[T]) -> T:
        return options[self.roll(0, len(options) - 1)]


def example_of(schema: Schema, *, seed: str) -> Any:
    return _Inventor(schema, Dice(seed)).value(schema, name="answer", depth=0)


class _Inventor:
    def __init__(self, root: Schema, dice: Dice) -> None:
        self._root = root
        self._dice = dice
        self._by_type: dict[str, Callable[[Schema, str, int], Any]] = {
            "object": self._object,
            "array": self._array,
            "string": lambda schema, name, _depth: text_like(schema, name, dice),
            "integer": lambda schema, _name, _depth: integer_within(schema, dice),
            "number": lambda schema, _name, _depth: number_within(schema, dice),
            "boolean": lambda _schema, _name, _depth: bool(dice.roll(0, 1)),
            "null": lambda _schema, _name, _depth: None,
        }

    def value(self, schema: Any, *, name: str, depth: int) -> Any:
        """Invent a value; a schema may also be `true`, which allows any."""
        schema = self._flattened(schema if isinstance(schema, Mapping) else {})
        if "const" in schema:
            return schema["const"]
        for options in ("enum", "examples"):
            if schema.get(options):
                return self._dice.pick(schema[options])
        if "default" in schema:
            return schema["default"]
        return self._by_type[_type_of(schema)](schema, name, depth)

    def _flattened(self, schema: Schema) -> Schema:
        """Return a schema without references and combinations: one alternative is chosen."""
        if "$ref" in schema:
            schema = _merged(_without(schema, "$ref"), self._resolved(schema["$ref"]))
            return self._flattened(schema)
        for part in schema.get("allOf", ()):
            schema = _merged(schema, self._flattened(part))
        for alternatives in ("anyOf", "oneOf"):
            if schema.get(alternatives):
                chosen = self._flattened(self._dice.pick(schema[alternatives]))
                schema = _merged(_without(schema, alternatives), chosen)
        return schema

    def _resolved(self, reference: str) -> Schema:
        found: Any = self._root
        for part in reference.removeprefix("#").strip("/").split("/"):
            found = found[part.replace("~1", "/").replace("~0", "~")] if part else found
        return found if isinstance(found, Mapping) else {}

    def _object(self, schema: Schema, _name: str, depth: int) -> dict[str, Any]:
        properties = schema.get("properties", {})
        required = schema.get("required", ())
        names = [*required] if depth >= DEEPEST else [*properties, *required]
        return {
            name: self.value(properties.get(name, {}), name=name, depth=depth + 1)
            for name in dict.fromkeys(names)
        }

    def _array(self, schema: Schema, name: str, depth: int) -> list[Any]:
        first = schema.get("prefixItems", [])
        rest = schema.get("items", {})
        most = len(first) if rest is False else schema.get("maxItems", len(first) + 3)
        least = schema.get("minItems", min(len(first) or 1, most))
        count = least if depth >= DEEPEST else self._dice.roll(least, max(least, min(most, 5)))
        kinds = [*first, *[rest] * count][:count]
        items = [self.value(kind, name=name, depth=depth + 1) for kind in kinds]
        if not schema.get("uniqueItems"):
            return items
        spare = (self.value(rest, name=name, depth=depth + 1) for _ in range(TRIES_FOR_UNIQUE))
        return _distinct([*items, *spare])[:count]


def _type_of(schema: Schema) -> str:
    kind = schema.get("type")
    if isinstance(kind, list):
        kind = next((option for option in kind if option != "null"), "null")
    if kind is not None:
        return str(kind)
    if "properties" in schema or "required" in schema:
        return "object"
    return "array" if "items" in schema or "prefixItems" in schema else "string"


def _merged(schema: Schema, other: Schema) -> Schema:
    merged = {**schema, **other}
    if "properties" in schema and "properties" in other:
        merged["properties"] = {**schema["properties"], **other["properties"]}
    if "required" in schema and "required" in other:
        merged["required"] = [*schema["required"], *other["required"]]
    return merged


def _without(schema: Schema, key: str) -> dict[str, Any]:
    return {name: value for name, value in schema.items() if name != key}


def _distinct(items: list[Any]) -> list[Any]:
    return [item for n, item in enumerate(items) if item not in items[:n]]


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


WORDS: Final = (
    "amber", "brisk", "calm", "clear", "copper", "gentle", "granite", "harbour", "linen", "meadow",
    "northern", "quiet", "silver", "steady", "timber", "velvet", "warm", "willow",
)  # fmt: skip

_FORMATS: Final[Mapping[str, Callable[[Dice], str]]] = {
    "date": lambda dice: f"2026-{dice.roll(1, 12):02}-{dice.roll(1, 28):02}",
    "time": lambda dice: f"{dice.roll(0, 23):02}:{dice.roll(0, 59):02}:00Z",
    "date-time": lambda dice: f"2026-{dice.roll(1, 12):02}-{dice.roll(1, 28):02}T12:00:00Z",
    "duration": lambda dice: f"PT{dice.roll(1, 59)}M",
    "email": lambda dice: f"{dice.pick(WORDS)}@example.com",
    "hostname": lambda dice: f"{dice.pick(WORDS)}.example.com",
    "ipv4": lambda dice: f"192.0.2.{dice.roll(1, 254)}",
    "uri": lambda dice: f"https://example.com/{dice.pick(WORDS)}",
    "uuid": lambda dice: f"00000000-0000-5000-8000-{dice.roll(0, 16**12 - 1):012x}",
}


def text_like(schema: Mapping[str, Any], name: str, dice: Dice) -> str:
    if schema.get("format") in _FORMATS:
        return _FORMATS[schema["format"]](dice)
    least = schema.get("minLength", 0)
    text = f"{dice.pick(WORDS)} {dice.pick(WORDS)} {name}"
    while len(text) < least:
        text += f" {dice.pick(WORDS)}"
    return text[: schema.get("maxLength", len(text))]
