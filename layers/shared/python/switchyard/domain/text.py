"""Text that others wrote, made harmless."""

import unicodedata
from typing import Final

_STEERING: Final = frozenset({"Cc", "Cf", "Cs"})  # controls, invisible formatting, half characters


def without_control_characters(text: str) -> str:
    """Newlines and tabs stay; everything else that could steer a terminal or a reader goes."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(c for c in text if c in "\n\t" or unicodedata.category(c) not in _STEERING)
