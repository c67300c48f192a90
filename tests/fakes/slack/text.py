"""A message of Slack's as a reader sees it, in plain text."""

import html
import re
from collections.abc import Iterator, Sequence
from typing import Any

from switchyard.adapters.slack.blocks import render
from switchyard.ports.alerting import ChatMessage

Block = dict[str, Any]

CALLS = re.compile(r"<(?:[!@#]|https?:|mailto:)[^>]*>")
"""What Slack makes a link, or a call for somebody's attention, of."""


def seen_in_slack(message: ChatMessage) -> str:
    """A message as a reader sees it, without buttons."""
    return shown(render(message, with_buttons=False).blocks)


def shown(blocks: Sequence[Block]) -> str:
    return "\n".join(line for block in blocks for line in _lines(block))


def texts_in(blocks: Sequence[Block]) -> Iterator[str]:
    """Every text that Slack would look through for calls."""
    for block in blocks:
        if "text" in block:
            yield block["text"]["text"]


def _lines(block: Block) -> Iterator[str]:
    match block["type"]:
        case "header":
            yield f"# {html.unescape(block['text']['text'])}"
        case "divider":
            yield "-" * 40
        case "section":
            yield html.unescape(block["text"]["text"])
            yield ""
        case "actions":
            yield " ".join(f"[{element['text']['text']}]" for element in block["elements"])
