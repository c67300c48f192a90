"""A producer's schema is checked, but cannot hold the worker."""

import sys
from typing import Any

import pytest

from worker.schema_check import UnusableSchema
from worker.schema_guard import guarded_mismatch

ENDLESS = "(a+)+$"
SLOW_TEXT = "a" * 40 + "!"


@pytest.mark.parametrize(
    ("schema", "output"),
    [
        ({"pattern": ENDLESS}, SLOW_TEXT),
        ({"patternProperties": {ENDLESS: True}}, {SLOW_TEXT: 1}),
        ({"propertyNames": {"pattern": ENDLESS}}, {SLOW_TEXT: 1}),
        ({"$defs": {"x": {"pattern": ENDLESS}}, "items": {"$ref": "#/$defs/x"}}, [SLOW_TEXT]),
    ],
    ids=["pattern", "patternProperties", "propertyNames", "$defs"],
)
def test_a_pattern_that_takes_for_ever_is_given_up(schema: dict[str, Any], output: Any) -> None:
    with pytest.raises(UnusableSchema, match=r"took longer than 0\.3 s"):
        guarded_mismatch(output, schema, max_seconds=0.3)


def test_a_comparison_of_each_with_each_is_given_up() -> None:
    many = [{"n": n} for n in range(3_000)]

    with pytest.raises(UnusableSchema, match="took longer"):
        guarded_mismatch(many, {"uniqueItems": True}, max_seconds=0.3)


def test_references_that_multiply_are_given_up() -> None:
    twice = {
        f"x{n}": {"allOf": [{"$ref": f"#/$defs/x{n + 1}"}, {"$ref": f"#/$defs/x{n + 1}"}]}
        for n in range(40)
    }
    schema = {"$defs": {**twice, "x40": {}}, "$ref": "#/$defs/x0"}

    with pytest.raises(UnusableSchema, match="took longer"):
        guarded_mismatch(1, schema, max_seconds=0.3)


def test_what_it_finds_is_told_as_without_it() -> None:
    schema = {"properties": {"colour": {"pattern": "^#[0-9a-f]{6}$"}}}

    assert guarded_mismatch({"colour": "#aabbcc"}, schema) is None
    found = guarded_mismatch({"colour": "vermilion \u2713"}, schema)
    assert found == "$.colour: 'vermilion \u2713' does not match '^#[0-9a-f]{6}$'"


def test_a_schema_without_patterns_needs_no_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/nowhere")

    assert guarded_mismatch("x", {"type": "string", "format": "uri"}) is None
