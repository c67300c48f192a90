"""Reads what an answer cost, in a JSON body or in the events of a stream."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from switchyard.domain.measuring.prices import WEB_SEARCH_USD, Tokens, price_of

MAX_EVENT_BYTES: Final = 32 * 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Reported:
    tokens: Tokens = field(default_factory=Tokens)
    searches: int = 0

    def usd(self, model: str) -> float:
        """Return the cost, without that of a model without a price."""
        price = price_of(model)
        return (price.of(self.tokens) if price else 0.0) + self.searches * WEB_SEARCH_USD

    def or_later(self, other: "Reported") -> "Reported":
        """Take the larger of each figure: in a stream they are sums of all before."""
        mine, theirs = self.tokens, other.tokens
        return Reported(
            tokens=Tokens(
                input=max(mine.input, theirs.input),
                output=max(mine.output, theirs.output),
                cache_read=max(mine.cache_read, theirs.cache_read),
                cache_creation=max(mine.cache_creation, theirs.cache_creation),
                cache_creation_1h=max(mine.cache_creation_1h, theirs.cache_creation_1h),
            ),
            searches=max(self.searches, other.searches),
        )

    def __add__(self, other: "Reported") -> "Reported":
        mine, theirs = self.tokens, other.tokens
        return Reported(
            tokens=Tokens(
                input=mine.input + theirs.input,
                output=mine.output + theirs.output,
                cache_read=mine.cache_read + theirs.cache_read,
                cache_creation=mine.cache_creation + theirs.cache_creation,
                cache_creation_1h=mine.cache_creation_1h + theirs.cache_creation_1h,
            ),
            searches=self.searches + other.searches,
        )


def read_usage(usage: Any) -> Reported:
    """Read usage; `iterations` were charged one by one, and the total may leave some out."""
    if not isinstance(usage, Mapping):
        return Reported()
    total = _one(usage)
    parts = usage.get("iterations")
    if not isinstance(parts, list):
        return total
    return total.or_later(sum((_one(part) for part in parts), Reported()))


def _one(usage: Any) -> Reported:
    if not isinstance(usage, Mapping):
        return Reported()
    by_age = usage.get("cache_creation")
    hour = _count(by_age, "ephemeral_1h_input_tokens")
    five_minutes = _count(by_age, "ephemeral_5m_input_tokens")
    return Reported(
        tokens=Tokens(
            input=_count(usage, "input_tokens"),
            output=_count(usage, "output_tokens"),
            cache_read=_count(usage, "cache_read_input_tokens"),
            cache_creation=max(_count(usage, "cache_creation_input_tokens"), hour + five_minutes),
            cache_creation_1h=hour,
        ),
        searches=_count(usage.get("server_tool_use"), "web_search_requests"),
    )


def _count(counts: Any, name: str) -> int:
    found = counts.get(name) if isinstance(counts, Mapping) else None
    return found if isinstance(found, int) and found > 0 else 0


class StreamMeter:
    """Follows a stream of server-sent events without holding it up."""

    def __init__(self) -> None:
        self.reported = Reported()
        self.complete = False
        """The answer came to its end, so nothing more is charged for it."""
        self._line = bytearray()
        self._skipping = False

    def feed(self, data: bytes) -> None:
        *lines, rest = data.split(b"\n")
        for line in lines:
            self._add(line)
            self._end_line()
        self._add(rest)

    def _add(self, part: bytes) -> None:
        if len(self._line) + len(part) > MAX_EVENT_BYTES:
            self._skipping = True
            self._line.clear()
        if not self._skipping:
            self._line += part

    def _end_line(self) -> None:
        if not self._skipping and self._line.startswith(b"data:"):
            self._hear(bytes(self._line[5:]))
        self._line.clear()
        self._skipping = False

    def _hear(self, data: bytes) -> None:
        if b"message_st" not in data and b"message_delta" not in data:
            return
        try:
            event = json.loads(data)
        except (ValueError, RecursionError):
            return
        match event:
            case {"type": "message_start", "message": {"usage": usage}}:
                self.reported = self.reported.or_later(read_usage(usage))
            case {"type": "message_delta", "usage": usage}:
                self.reported = self.reported.or_later(read_usage(usage))
            case {"type": "message_stop"}:
                self.complete = True


def usage_of_body(body: bytes) -> Reported | None:
    """Return the usage in a body, or `None` if there is none."""
    try:
        answer = json.loads(body)
    except (ValueError, RecursionError):
        return None
    usage = answer.get("usage") if isinstance(answer, dict) else None
    return read_usage(usage) if isinstance(usage, dict) else None
