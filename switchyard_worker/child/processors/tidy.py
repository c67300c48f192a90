"""Removes from outputs what carries no information."""

import json
from collections.abc import Callable
from typing import Any

from switchyard_worker.child.processors import processing


@processing("without-nulls")
def without_nulls(output: Any) -> Any:
    """Remove null members of objects; items of arrays stay, since their place may matter."""
    return _everywhere(output, _drop_nulls)


@processing("trimmed-text")
def trimmed_text(output: Any) -> Any:
    """Remove white space at the beginning and end of every text."""
    return _everywhere(output, lambda part: part.strip() if isinstance(part, str) else part)


@processing("unique-items")
def unique_items(output: Any) -> Any:
    """Remove all but the first of equal items in an array."""
    return _everywhere(output, _drop_repetitions)


def _everywhere(value: Any, change: Callable[[Any], Any]) -> Any:
    match value:
        case dict():
            value = {name: _everywhere(part, change) for name, part in value.items()}
        case list():
            value = [_everywhere(part, change) for part in value]
    return change(value)


def _drop_nulls(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    return {name: part for name, part in value.items() if part is not None}


def _drop_repetitions(value: Any) -> Any:
    if not isinstance(value, list):
        return value
    first_of_each: dict[str, Any] = {}
    for part in value:
        first_of_each.setdefault(json.dumps(part, sort_keys=True), part)
    return list(first_of_each.values())
