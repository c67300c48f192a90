"""States in an attempt's own summary and trace what the API reported that it used."""

import json
from typing import Final

from switchyard.domain.tasks.task import Usage
from switchyard_worker.boundary import SUMMARY_FILE, TRACE_FILE

_CLAIMS: Final = (b"counted", b"tokens", b"cost")
"""How lines of a summary begin that state figures."""


def with_counted(name: str, content: bytes, usage: Usage) -> bytes:
    """Return the content of one of these files with the figures, that of others as it is."""
    if name == SUMMARY_FILE:
        return _summary(content, usage)
    return _trace(content, usage) if name == TRACE_FILE else content


def _summary(content: bytes, usage: Usage) -> bytes:
    lines = [line for line in content.split(b"\n") if not line.startswith(_CLAIMS)]
    counted = (
        f"counted   {usage.input_tokens} tokens in, {usage.output_tokens} out, "
        f"{usage.cache_read_tokens} from the cache, {usage.cost_usd:.4f} USD, as the API reported"
    )
    return b"\n".join([counted.encode(), *lines])


def _trace(content: bytes, usage: Usage) -> bytes:
    """Add a last member: parsers of JSON use the last of two with the same name."""
    head, brace, rest = content.rpartition(b"}")
    if not brace or rest.strip():
        return content
    counted = {
        "inputTokens": usage.input_tokens,
        "outputTokens": usage.output_tokens,
        "cacheReadTokens": usage.cache_read_tokens,
        "costUsd": usage.cost_usd,
    }
    head = head.rstrip()
    comma = b"" if head.endswith(b"{") else b","
    return head + comma + b'\n  "counted": ' + json.dumps(counted).encode() + b"\n}"
