"""What the fake Messages API can answer: given as values, sent as server-sent events or JSON."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from zlib import crc32

Json = dict[str, Any]

USAGE = {
    "input_tokens": 12,
    "output_tokens": 5,
    "cache_read_input_tokens": 3,
    "cache_creation_input_tokens": 0,
}


@dataclass(frozen=True, kw_only=True)
class Reply:
    """One answer of the API; an error when its status says so."""

    blocks: Sequence[Json] = ()
    stop_reason: str | None = "end_turn"
    usage: Mapping[str, Any] = field(default_factory=lambda: USAGE)
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    answer: Any = None
    """Given the way the request asks for it: through the schema's tool, or as JSON text."""
    events_before_cut: int | None = None
    """The connection is cut after so many events."""
    announces_its_length: bool = False
    """So that whoever reads can tell that something is missing."""
    error_event: str | None = None
    """The type of an error that ends the stream half-way."""
    stalls_after: int | None = None
    """It sends nothing more after so many events, until the server stops."""
    hangs: bool = False
    """It takes the request and says nothing until the server stops."""

    def costing(self, **usage: Any) -> "Reply":
        return replace(self, usage={**self.usage, **usage})

    def to(self, request: Json) -> "Reply":
        """Return the reply with its answer in the blocks that this request allows."""
        if self.answer is None:
            return self
        tool = schema_tool(request)
        if tool is None:
            return replace(self, blocks=[text_block(json.dumps(self.answer))])
        return replace(self, blocks=[tool_block(tool, self.answer)], stop_reason="tool_use")


def says(text: str = "plain words") -> Reply:
    return Reply(blocks=[text_block(text)])


def answers(answer: Any) -> Reply:
    return Reply(answer=answer)


def uses(tool: str, **given: Any) -> Reply:
    return Reply(blocks=[tool_block(tool, given)], stop_reason="tool_use")


def fails(status: int, *, retry_after: str | None = None) -> Reply:
    return Reply(status=status, headers={"retry-after": retry_after} if retry_after else {})


def refuses() -> Reply:
    return Reply(blocks=[text_block("I will not")], stop_reason="refusal")


def breaks_off(*, after_events: int, announced: bool = False) -> Reply:
    return replace(says(), events_before_cut=after_events, announces_its_length=announced)


def gives_up(error: str) -> Reply:
    return replace(says(), error_event=error)


def stalls(*, after_events: int) -> Reply:
    return replace(says(), stalls_after=after_events)


def redirects(location: str) -> Reply:
    return Reply(status=307, headers={"location": location})


def hangs() -> Reply:
    return Reply(hangs=True)


def schema_tool(request: Json) -> str | None:
    names = [tool["name"] for tool in request.get("tools", [])]
    return next((name for name in names if "Structured" in name), None)


def text_block(text: str) -> Json:
    return {"type": "text", "text": text}


def tool_block(name: str, given: Any) -> Json:
    number = crc32(json.dumps(given).encode())  # the ids of two uses of a tool differ
    return {"type": "tool_use", "id": f"toolu_{name}_{number}", "name": name, "input": given}


def message(reply: Reply, request: Json) -> Json:
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": request["model"],
        "content": list(reply.blocks),
        "stop_reason": reply.stop_reason,
        "stop_sequence": None,
        "usage": dict(reply.usage),
    }


def events(reply: Reply, request: Json) -> Iterator[Json]:
    empty: Json = {"content": [], "stop_reason": None, "usage": {**reply.usage, "output_tokens": 1}}
    yield {"type": "message_start", "message": message(reply, request) | empty}
    for index, block in enumerate(reply.blocks):
        start, delta = _parts(block)
        yield {"type": "content_block_start", "index": index, "content_block": start}
        yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    if reply.error_event:
        yield {"type": "error", "error": {"type": reply.error_event, "message": "half-way"}}
        return
    stop = {"stop_reason": reply.stop_reason, "stop_sequence": None}
    yield {"type": "message_delta", "delta": stop, "usage": dict(reply.usage)}
    yield {"type": "message_stop"}


def _parts(block: Json) -> tuple[Json, Json]:
    if block["type"] == "text":
        return text_block(""), {"type": "text_delta", "text": block["text"]}
    written = json.dumps(block["input"])
    return block | {"input": {}}, {"type": "input_json_delta", "partial_json": written}
