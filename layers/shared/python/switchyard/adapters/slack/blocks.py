"""Renders messages as Slack blocks, within the limits of Slack.

Text that tenants wrote stands in code spans, where Slack formats nothing; `&`, `<` and `>` are
escaped everywhere, so that no text can mention a channel or a user, or look like a link.
"""

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from switchyard.domain.alerts.incidents import Button, Incident, Section, Severity
from switchyard.domain.text import plain_text
from switchyard.ports.alerting import ChatMessage, EmptyPage, IncidentNews, IncidentPage, Note

Block = dict[str, Any]

MAX_BLOCKS: Final = 50
"""Slack refuses a message with more."""
SECTIONS_PER_PAGE: Final = MAX_BLOCKS - 5  # a header, a divider and buttons are blocks too
MAX_PAGE: Final = 9_000
"""Characters of all sections: Slack refuses messages of about 11,000, and documents no limit."""
MAX_HEADER: Final = 150
MAX_SECTION: Final = 3_000
MAX_VALUE: Final = 300
MAX_PASSAGE: Final = 1_500
MAX_TEXT: Final = 400
ACTION_PREFIX: Final = "switchyard_"
"""The beginning of the ids of our buttons; the action follows."""

_ESCAPES: Final = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
_ESCAPED: Final = re.compile("[&<>]")
_LOOK_ALIKES: Final = str.maketrans("`*~", "\u02cb\u2217\u223c")
_SIGNS: Final = {Severity.CRITICAL: "🔴", Severity.WARNING: "🟡"}
_LABELS: Final = {
    "redrive": "Redrive",
    "cancel": "Cancel",
    "approve": "Approve",
    "reject": "Reject",
}
_STYLES: Final = {
    "redrive": "primary",
    "cancel": "danger",
    "approve": "primary",
    "reject": "danger",
}


@dataclass(frozen=True, slots=True)
class Page:
    text: str
    """The text of notifications, and of clients that cannot show blocks."""
    blocks: tuple[Block, ...]


def render(message: ChatMessage, *, with_buttons: bool) -> Page:
    match message:
        case IncidentPage():
            return pages_of(message.incident, with_buttons=with_buttons)[message.number]
        case IncidentNews():
            return news_of(message.incident)
        case EmptyPage():
            return Page("nothing more", (_mrkdwn("_nothing more_"),))
        case Note():
            return _note(message)


@lru_cache(maxsize=4)
def pages_of(incident: Incident, *, with_buttons: bool) -> tuple[Page, ...]:
    """Render the pages of an incident, at least one; the first is its main message."""
    gathered = _gathered(map(_section, incident.sections))
    pages = [
        _page(_numbered(f"{_sign(incident)} {incident.title}", number, len(gathered)), sections)
        for number, sections in enumerate(gathered, start=1)
    ]
    if with_buttons and incident.buttons:
        first = pages[0]
        pages[0] = Page(first.text, (*first.blocks, _actions(incident.buttons)))
    return tuple(pages)


def news_of(incident: Incident) -> Page:
    """Render the line about the latest change of an incident."""
    said = f"{_sign(incident)} {_line(incident.news or incident.title, MAX_PASSAGE)}"
    return Page(said[:MAX_TEXT], (_mrkdwn(said),))


def escaped(text: str, at_most: int) -> str:
    """Escape a text, and cut one that is too long, but never within an escape."""
    if len(text) < at_most and not _ESCAPED.search(text):
        return text
    pieces: list[str] = []
    left = at_most - 1
    for character in text[:at_most]:
        piece = _ESCAPES.get(character, character)
        left -= len(piece)
        if left < 0:
            return "".join(pieces) + "…"
        pieces.append(piece)
    return "".join(pieces)


def _note(note: Note) -> Page:
    mention = f"<@{note.user_id}> " if note.user_id else ""
    text = f"{mention}{escaped(note.text, MAX_PASSAGE)}"
    return Page(text, (_mrkdwn(text),))


def _sign(incident: Incident) -> str:
    return _SIGNS[incident.severity] if incident.open else "✅"


def _numbered(title: str, number: int, of: int) -> str:
    return title if of == 1 else f"{title} ({number} of {of})"


def _gathered(sections: Iterable[Block]) -> list[list[Block]]:
    """Distribute sections to pages, as many to each page as it may hold."""
    pages: list[list[Block]] = [[]]
    left = MAX_PAGE
    for section in sections:
        left -= len(json.dumps(section))
        if pages[-1] and (left < 0 or len(pages[-1]) == SECTIONS_PER_PAGE):
            pages.append([])
            left = MAX_PAGE - len(json.dumps(section))
        pages[-1].append(section)
    return pages


def _page(title: str, sections: Sequence[Block]) -> Page:
    header = {
        "type": "header",
        "text": {"type": "plain_text", "text": _line(title, MAX_HEADER), "emoji": False},
    }
    blocks: list[Block] = [header, {"type": "divider"}, *sections]
    return Page(_line(title, MAX_TEXT), tuple(blocks if sections else blocks[:1]))


def _section(section: Section) -> Block:
    lines = [f"*{_line(section.title, MAX_VALUE)}*"]
    lines += [f"{_line(name, 60)}: {_code(value)}" for name, value in section.facts]
    if section.text:
        lines.append(f"```{escaped(_inert(section.text), MAX_PASSAGE)}```")
    lines += map(_code, section.commands)
    return _mrkdwn("\n".join(_fitting(lines)))


def _fitting(lines: Iterable[str]) -> Iterable[str]:
    """Yield whole lines only: half of a line would leave its code span open."""
    left = MAX_SECTION - 2
    for line in lines:
        left -= len(line) + 1
        if left < 0:
            yield "…"
            return
        yield line


def _mrkdwn(text: str) -> Block:
    """Make a section; `verbatim` keeps Slack from making links of addresses and channels."""
    return {"type": "section", "text": {"type": "mrkdwn", "text": text, "verbatim": True}}


def _actions(buttons: Sequence[Button]) -> Block:
    return {"type": "actions", "elements": [_button(button) for button in buttons]}


def _button(button: Button) -> Block:
    label = _LABELS[button.action]
    question = f"{label} this?" if button.task_id else f"{label} this job?"
    return {
        "type": "button",
        "action_id": f"{ACTION_PREFIX}{button.action}",
        "style": _STYLES[button.action],
        "text": {"type": "plain_text", "text": label},
        "value": json.dumps(_value(button)),
        "confirm": {
            "title": {"type": "plain_text", "text": question},
            "text": {"type": "plain_text", "text": button.task_id or button.job_id},
            "confirm": {"type": "plain_text", "text": label},
            "deny": {"type": "plain_text", "text": "Leave it"},
        },
    }


def _value(button: Button) -> dict[str, str | int]:
    """Return what `buttons` reads when the button was pressed."""
    of_job: dict[str, str | int] = {
        "tenant": button.tenant,
        "job": button.job_id,
        "run": button.run,
    }
    if button.task_id is None or button.basis is None:
        return of_job
    return of_job | {"task": button.task_id, "basis": button.basis}


def _line(text: str, at_most: int) -> str:
    return escaped(" ".join(_inert(text).split()), at_most)


def _code(text: str) -> str:
    return f"`{_line(text, MAX_VALUE) or '-'}`"


def _inert(text: str) -> str:
    """Replace characters that would end a code span or format the text."""
    return plain_text(text).translate(_LOOK_ALIKES)
