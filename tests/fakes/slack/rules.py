"""What Slack refuses to take: its documented limits of messages and blocks, and an undocumented
one, of all blocks of a message together (slackapi/bolt-js, issues 2509 and 2867)."""

import json
from collections.abc import Iterator
from typing import Any

MAX_BLOCKS = 50
MAX_ALL_BLOCKS = 12_000
MAX_TEXT = {"header": 150, "section": 3_000}
MAX_FALLBACK = 4_000
MAX_VALUE = 2_000
MAX_METADATA = 16_000


def problem_with(message: dict[str, Any]) -> str | None:
    return next(_problems(message), None)


def _problems(message: dict[str, Any]) -> Iterator[str]:
    if not message.get("text"):
        yield "there is no text"
    if len(message.get("text", "")) > MAX_FALLBACK:
        yield "the text is too long"
    if len(message["blocks"]) > MAX_BLOCKS:
        yield f"there are {len(message['blocks'])} blocks"
    if len(json.dumps(message["blocks"], ensure_ascii=False)) > MAX_ALL_BLOCKS:
        yield "msg_blocks_too_long"
    if len(str(message.get("metadata"))) > MAX_METADATA:
        yield "there is too much metadata"
    for block in message["blocks"]:
        yield from _of_block(block)


def _of_block(block: dict[str, Any]) -> Iterator[str]:
    kind = block["type"]
    if kind in MAX_TEXT and not 1 <= len(block["text"]["text"]) <= MAX_TEXT[kind]:
        yield f"a {kind} has {len(block['text']['text'])} characters"
    if kind == "header" and block["text"]["type"] != "plain_text":
        yield "a header is plain text"
    for element in block.get("elements", ()):
        if len(element["value"]) > MAX_VALUE:
            yield "the value of a button is too long"
        if len(element["text"]["text"]) > 75:
            yield "the label of a button is too long"
