"""Reads what a child asks for: only what can be understood and counted is forwarded.

A request is written anew from what was read here, so nothing reaches the API that this reading
missed: no second `model`, no field whose price is unknown.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from switchyard.domain.measuring.prices import without_date
from switchyard_worker.parent.claude.proxy.refusals import invalid, too_large

MAX_BODY_BYTES: Final = 32 * 1024 * 1024  # what the Messages API takes
MAX_STRUCTURE: Final = 1_000_000
"""The most brackets and commas: a parsed value takes a hundred times its three bytes."""

COUNTED_FIELDS: Final = frozenset(
    {
        "cache_control",
        "context_management",
        "messages",
        "model",
        "output_config",
        "output_format",
        "system",
        "thinking",
        "tool_choice",
        "tools",
    }
)
"""Fields that the API can count (https://platform.claude.com/docs/en/api/messages-count-tokens)."""
FIELDS: Final = COUNTED_FIELDS | {
    "diagnostics",
    "max_tokens",
    "metadata",
    "service_tier",
    "speed",
    "stop_sequences",
    "stream",
    "temperature",
    "top_k",
    "top_p",
}

# Types that end in a date are the API's own. These are carried out by the client, or edit the
# context; all others run at the API, where one request may be charged for many.
_DATED: Final = re.compile(r"([a-z_]+)_\d{8}\Z")
_UNCHARGED: Final = frozenset(
    {"bash", "text_editor", "computer", "memory", "clear_thinking", "clear_tool_uses"}
)
_SEARCH: Final = "web_search"
MAX_SEARCHES: Final = 8

TOKENS_BESIDE: Final = 8_000
"""The most tokens that the API adds itself: for tools, for thinking and for structured output."""
TOKENS_OF_AN_IMAGE: Final = 10_000  # twice what the largest one is scaled down to


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A request to the API. `late` holds the fields that are decided once its cost is known."""

    model: str
    max_tokens: int
    streams: bool
    searches: int
    """The number of searches that the API may make for the request."""
    input_bound: int | None
    """The most tokens that can be read; `None` if only the API can count them."""
    caches_for_an_hour: bool
    head: bytes
    late: Mapping[str, Any]
    countable: bytes
    """The same question for the API's own count."""

    def body(self, *, max_tokens: int, searches: int) -> bytes:
        late = dict(self.late)
        if "max_tokens" in late:
            late["max_tokens"] = max_tokens
        if "thinking" in late:
            late["thinking"] = _thinking_within(late["thinking"], max_tokens)
        if "tools" in late:
            late["tools"] = [_searching(tool, searches) for tool in late["tools"]]
        return self.head[:-1] + (b"," if len(self.head) > 2 else b"") + _written(late)[1:]


def read_request(
    body: bytes, *, models: Sequence[str], may_search: bool, capped: bool, counts_only: bool
) -> Asked:
    """Raise `RequestRefused`."""
    asked = _parsed(body)
    _check_fields(asked)
    _check_model(asked.get("model"), models)
    _check_parts(asked, may_search=may_search, capped=capped)
    searches = _searches(asked)
    late_names = ["max_tokens", "thinking", *(["tools"] if searches else [])]
    return Asked(
        model=asked["model"],
        max_tokens=0 if counts_only else _max_tokens(asked),
        streams=asked.get("stream") is True,
        searches=searches,
        input_bound=_input_bound(asked, len(body)),
        caches_for_an_hour=any(part.get("ttl") == "1h" for part in _parts(asked)),
        countable=_written({name: asked[name] for name in asked if name in COUNTED_FIELDS}),
        head=_written({name: asked[name] for name in asked if name not in late_names}),
        late={name: asked[name] for name in late_names if name in asked},
    )


def _parsed(body: bytes) -> dict[str, Any]:
    if sum(body.count(mark) for mark in (b"{", b"[", b",")) > MAX_STRUCTURE:
        raise too_large(f"the body has more than {MAX_STRUCTURE:,} values")
    try:
        asked = json.loads(body, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise invalid("body", "the body is not JSON that can be read") from error
    if not isinstance(asked, dict):
        raise invalid("body", "the body is not a JSON object")
    return asked


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def _written(value: Mapping[str, Any]) -> bytes:
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
    except UnicodeEncodeError as error:  # half of a surrogate pair
        raise invalid("body", "the body has text that is not Unicode") from error


def _check_fields(asked: Mapping[str, Any]) -> None:
    unknown = sorted(set(asked) - FIELDS)
    if unknown:
        raise invalid("field", f"{unknown[0][:100]!r} is not allowed through this worker's proxy")
    if asked.get("speed", "standard") not in ("standard", None):
        raise invalid("field", "'speed' may only be 'standard' through this worker's proxy")
    if not isinstance(asked.get("tools", []), list):
        raise invalid("field", "'tools' is not a list")


def _check_model(model: Any, models: Sequence[str]) -> None:
    allowed = {without_date(name) for name in models}
    if not isinstance(model, str) or without_date(model) not in allowed:
        shown = model[:100] if isinstance(model, str) else model.__class__.__name__
        raise invalid("model", f"this task may not use the model {shown!r}: {', '.join(models)}")


def _max_tokens(asked: Mapping[str, Any]) -> int:
    value = asked.get("max_tokens")
    if not isinstance(value, int) or isinstance(value, bool) or not 0 < value <= 10_000_000:
        raise invalid("field", "'max_tokens' is not a number above zero")
    return value


def _parts(value: Any) -> Iterator[Mapping[str, Any]]:
    """Yield every object in a value, at any depth."""
    waiting = [value]
    while waiting:
        part = waiting.pop()
        if isinstance(part, dict):
            yield part
            waiting += part.values()
        elif isinstance(part, list):
            waiting += part


def _check_parts(asked: Mapping[str, Any], *, may_search: bool, capped: bool) -> None:
    """Check all objects: the API's own tools may also be named within messages."""
    searching = [tool for tool in asked.get("tools", []) if _is_search(tool)] if may_search else []
    for part in _parts(asked):
        kind = part.get("type")
        if _runs_at_the_api(kind) and not (len(searching) == 1 and part is searching[0]):
            raise invalid("tool", f"the tool {str(kind)[:100]!r} is not allowed for this task")
        _check_source(part.get("source"), capped=capped)


def _runs_at_the_api(kind: Any) -> bool:
    dated = _DATED.match(kind) if isinstance(kind, str) else None
    return dated[1] not in _UNCHARGED if dated else kind in ("mcp_toolset", "container_upload")


def _check_source(source: Any, *, capped: bool) -> None:
    kind = source.get("type") if isinstance(source, dict) else None
    if kind == "file":  # files of the account belong to no task
        raise invalid("source", "content by file id is not allowed through this worker's proxy")
    if kind == "url" and capped:
        raise invalid("source", "content by URL has no bound on its cost: maxCostUsd forbids it")


def _is_search(tool: Any) -> bool:
    kind = tool.get("type") if isinstance(tool, dict) else None
    dated = _DATED.match(kind) if isinstance(kind, str) else None
    return dated is not None and dated[1] == _SEARCH


def _searches(asked: Mapping[str, Any]) -> int:
    for tool in asked.get("tools", []):
        if _is_search(tool):
            value = tool.get("max_uses")
            return (
                min(value, MAX_SEARCHES) if isinstance(value, int) and value > 0 else MAX_SEARCHES
            )
    return 0


def _searching(tool: Any, searches: int) -> Any:
    return {**tool, "max_uses": searches} if _is_search(tool) else tool


def _thinking_within(thinking: Any, max_tokens: int) -> Any:
    """Keep the budget for thinking below `max_tokens`, which may have been lowered."""
    budget = thinking.get("budget_tokens") if isinstance(thinking, dict) else None
    if not isinstance(budget, int) or budget < max_tokens:
        return thinking
    return {**thinking, "budget_tokens": max_tokens // 2}


def _input_bound(asked: Mapping[str, Any], size: int) -> int | None:
    """Bound the tokens of an input by its bytes; images and documents are counted apart."""
    tokens = size + TOKENS_BESIDE
    for block in _blocks(asked.get("messages")):
        source = block.get("source")
        if block.get("type") == "document":
            return None
        if block.get("type") == "image" and isinstance(source, dict):
            data = source.get("data")
            tokens += TOKENS_OF_AN_IMAGE - (len(data) if isinstance(data, str) else 0)
    return tokens


def _blocks(messages: Any) -> Iterator[Mapping[str, Any]]:
    """Yield the blocks of messages and of tools' results; what looks alike elsewhere is text."""
    for message in _objects(messages):
        for block in _objects(message.get("content")):
            yield block
            if block.get("type") == "tool_result":
                yield from _objects(block.get("content"))


def _objects(values: Any) -> list[Mapping[str, Any]]:
    return (
        [value for value in values if isinstance(value, dict)] if isinstance(values, list) else []
    )
