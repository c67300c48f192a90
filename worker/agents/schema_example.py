"""Invents a value that satisfies a JSON Schema, the same one for the same seed.

Covers what definitions use: const, enum, examples, default, local references, combinations,
objects, arrays, bounds and common formats. What it does not know (`pattern`, `not`, `if`) it
ignores; the worker validates the answer like any other and then says so.
"""

from collections.abc import Callable, Mapping
from typing import Any

from worker.agents.dice import Dice
from worker.agents.number_example import integer_within, number_within
from worker.agents.text_example import text_like

Schema = Mapping[str, Any]

DEEPEST = 6  # below this only what is required is invented, so that recursive schemas end
TRIES_FOR_UNIQUE = 30


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
        """A schema may also be `true`: anything goes."""
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
        """Without references and combinations: one alternative is chosen."""
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
