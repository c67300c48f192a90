"""What may be told of an error: no keys, no tokens, no logins in addresses, nobody's home."""

import re
from typing import Final

from switchyard.domain.text import without_control_characters

REDACTED: Final = "[redacted]"

_KEYS: Final = re.compile(
    r"\b(?:"
    r"sk-[A-Za-z0-9_-]{16,}"  # Anthropic and others
    r"|(?:AKIA|ASIA)[A-Z0-9]{16}"  # AWS
    r"|gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,}"
    r"|xox[a-z]-[A-Za-z0-9-]{10,}"  # Slack
    r"|eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*"  # signed tokens
    r")"
)
_BEARERS: Final = re.compile(r"(?i)\b(bearer|basic)\s+[A-Za-z0-9._~+/=-]{8,}")
_NAMED: Final = re.compile(
    r"(?i)((?:api[_-]?key|access[_-]?key(?:[_-]?id)?|secret|password|passwd|token|credential"
    r"|signature)[\"']?\s*[:=]\s*[\"']?)(?!\[redacted\])[^\s\"',;&)}\]]+"
)
_LOGINS: Final = re.compile(r"(?i)\b([a-z][a-z0-9+.-]{0,20}://)[^\s/@]+@")
_HOMES: Final = re.compile(r"(?<![\w.])(?:/(?:home|Users)/[^\s/:\"']+|/root(?![\w.-]))")


def without_secrets(text: str) -> str:
    """One line or many, cleaned of what could harm whoever it belongs to."""
    text = _KEYS.sub(REDACTED, text)
    text = _BEARERS.sub(rf"\1 {REDACTED}", text)
    text = _LOGINS.sub(rf"\1{REDACTED}@", text)
    text = _NAMED.sub(rf"\1{REDACTED}", text)
    return _HOMES.sub("~", text)


def error_text(error: str, *, max_characters: int) -> str:
    """Safe to store, to tell and to show."""
    return without_secrets(without_control_characters(error))[:max_characters]
