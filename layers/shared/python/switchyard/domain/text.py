"""Text that others wrote, made harmless."""

import unicodedata
from collections.abc import Mapping
from typing import Any, Final

_STEERING: Final = frozenset({"Cc", "Cf", "Cs"})  # controls, invisible formatting, half characters


def without_control_characters(text: str) -> str:
    """Newlines and tabs stay; everything else that could steer a terminal or a reader goes."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(c for c in text if c in "\n\t" or unicodedata.category(c) not in _STEERING)


def clean_values(value: Any) -> Any:
    """A JSON value whose every text, keys included, is without control characters."""
    match value:
        case str():
            return without_control_characters(value)
        case Mapping():
            return {without_control_characters(key): clean_values(v) for key, v in value.items()}
        case list():
            return [clean_values(item) for item in value]
    return value
