"""The messages of one incident: its own, its further pages and its news in the thread."""

from contextlib import suppress
from dataclasses import replace
from typing import Final

from switchyard.domain.alerts.alerts import Alert, part_of_news
from switchyard.domain.alerts.incident_rendering import Page, news_of, nothing_more, pages_of
from switchyard.domain.alerts.incidents import Incident
from switchyard.domain.errors import AnswerLost
from switchyard.ports.alerting import Chat, ChatRefused, Mark, MessageGone, Posted

CLOCKS_DIFFER_MS: Final = 120_000
"""The chat's and ours."""


class Conversation:
    """Done step by step; `so_far` tells what was done when a step fails."""

    def __init__(self, *, chat: Chat, channel: str, incident: Incident) -> None:
        self._chat = chat
        self.named = channel
        self.incident = incident
        self.unsure = False
        """Whether something may have been posted that nobody knows of."""
        self.remark = ""

    def begin(self, alert: Alert, *, unsure: bool) -> None:
        """`unsure`: somebody posted before, and nobody knows what became of it."""
        self._alert = alert
        self._pages = list(alert.pages)
        self._channel = alert.channel or self.named
        self._changed = False
        self.unsure = unsure

    def bring_in_line(self, *, news: bool) -> None:
        """`news`: the thread has not heard of this change."""
        pages = pages_of(self.incident, with_buttons=self._chat.answers_buttons)
        for number, page in enumerate(pages):
            self._show(number, page)
        self._note_lost_pages()
        for number in range(len(pages), len(self._pages)):
            self._empty(number)
        if news and self._pages:
            self._say(news_of(self.incident))

    def so_far(self) -> Alert:
        return replace(
            self._alert,
            channel=self._channel,
            pages=tuple(self._pages),
            fingerprint=self._alert.half_way() if self._changed else self._alert.fingerprint,
        )

    def _show(self, number: int, page: Page) -> None:
        if number < len(self._pages):
            self._change(number, page)
            return
        found = self._found(f"page-{number}")
        if found:
            self._note(found)
            self._change(number, page)
        elif self.incident.open:
            self._note(self._post(page, f"page-{number}"))

    def _note_lost_pages(self) -> None:
        """Those that were posted when there were more, by one who died or was not answered."""
        while self._pages and (lost := self._found(f"page-{len(self._pages)}")):
            self._note(lost)

    def _change(self, number: int, page: Page) -> None:
        try:
            self._update(number, page)
        except MessageGone:
            del self._pages[number:]  # what follows in a thread is gone with it
            if self.incident.open:
                self._note(self._post(page, f"page-{number}"))

    def _empty(self, number: int) -> None:
        with suppress(MessageGone):
            self._update(number, nothing_more())

    def _update(self, number: int, page: Page) -> None:
        posted = Posted(self._channel, self._pages[number])
        self._chat.update(page, self._mark(f"page-{number}"), posted)
        self._changed = True

    def _say(self, page: Page) -> None:
        part = part_of_news(self.incident)
        if not self._found(part):
            self._post(page, part)

    def _post(self, page: Page, part: str) -> Posted:
        try:
            posted = self._chat.post(
                page, self._mark(part), channel=self._channel, thread=self._thread
            )
        except AnswerLost:
            self.unsure = True
            raise
        self._changed = True
        return posted

    def _found(self, part: str) -> Posted | None:
        if not self.unsure:
            return None
        since_ms = (self._alert.trying_since_ms or 0) - CLOCKS_DIFFER_MS
        try:
            return self._chat.find(
                self._mark(part), channel=self._channel, since_ms=since_ms, thread=self._thread
            )
        except ChatRefused as error:  # to tell it twice is better than not at all
            self.remark = f"posted without looking whether it is there: {error}"
            return None

    def _note(self, posted: Posted) -> None:
        self._channel = posted.channel
        self._pages.append(posted.ts)

    def _mark(self, part: str) -> Mark:
        return Mark(self.incident.subject, self._alert.opened_at_ms, part)

    @property
    def _thread(self) -> str | None:
        return self._pages[0] if self._pages else None
