"""A short, harmless text of anything that a trace should show."""

import json
from typing import Any, Final

from switchyard.domain.error_text import error_text

MAX_CHARACTERS: Final = 2_000
_CONSIDERED: Final = 4 * MAX_CHARACTERS  # what is redacted gets shorter


def excerpt(value: Any) -> str:
    """Without secrets and control characters, and never longer than a trace can bear."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    safe = error_text(_whole_words(text), max_characters=MAX_CHARACTERS)
    if len(text) <= MAX_CHARACTERS:
        return safe
    return f"{safe} … ({len(text):,} characters)"


def _whole_words(text: str) -> str:
    """A secret that the cut would halve is left out: half of it would not be recognized."""
    considered = text[:_CONSIDERED]
    if len(text) <= _CONSIDERED:
        return considered
    return considered.rpartition(" ")[0] or considered
