"""The contract of `Chat`: in memory, and Slack through its SDK."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest

from switchyard.adapters.slack.chat import SlackConnector
from switchyard.domain.alerts.subjects import AlarmSubject, JobSubject
from switchyard.domain.ids import JobRef
from switchyard.ports.alerting import Chat, MessageGone, MessageKey, Note, Posted
from switchyard.testing import ManualClock
from switchyard.testing.chat import MemoryChat
from tests.builders import NOW_MS
from tests.fakes.slack.api import slack_api
from tests.slack.conftest import PROXIES, KnownSecrets

KEY = MessageKey(JobSubject(JobRef("acme", "1")), NOW_MS, "page-0")
NOTE = Note("it failed")


@dataclass
class Talk:
    chat: Chat
    seen: Callable[[], list[str]]
    """What a reader sees, in the order in which it was posted."""

    def post(self, key: MessageKey = KEY, thread: str | None = None) -> Posted:
        return self.chat.post(NOTE, key, channel="#ops", thread=thread)


@pytest.fixture(params=["memory", "slack"])
def talk(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Talk]:
    if request.param == "memory":
        memory = MemoryChat(now_ms=NOW_MS)
        yield Talk(memory, lambda: [m.text for m in memory.messages.values()])
        return
    for name in PROXIES:
        monkeypatch.delenv(name, raising=False)
    with slack_api(lambda: NOW_MS) as slack:
        secrets = KnownSecrets(slack="xoxb-1")
        connector = SlackConnector(
            secrets=secrets, secret_name="slack", url=slack.url, clock=ManualClock(NOW_MS)
        )
        chat = connector.connect()
        assert chat is not None
        yield Talk(chat, lambda: [message.seen.strip() for message in slack.messages])


def test_what_is_posted_is_seen_and_can_be_changed(talk: Talk) -> None:
    posted = talk.post()
    assert talk.seen() == ["it failed"]
    talk.chat.update(Note("it goes on"), KEY, posted)
    assert talk.seen() == ["it goes on"]


def test_a_message_that_is_not_there_cannot_be_changed(talk: Talk) -> None:
    posted = talk.post()
    with pytest.raises(MessageGone):
        talk.chat.update(NOTE, KEY, Posted(posted.channel, "1.000000"))


def test_a_message_is_found_by_its_key_and_by_nothing_less(talk: Talk) -> None:
    posted = talk.post()
    since = NOW_MS - 1_000
    channel = posted.channel
    assert talk.chat.find(KEY, channel=channel, since_ms=since) == posted
    for another in (
        MessageKey(JobSubject(JobRef("acme", "2")), KEY.opened_at_ms, KEY.part),
        MessageKey(KEY.subject, KEY.opened_at_ms + 1, KEY.part),
        MessageKey(KEY.subject, KEY.opened_at_ms, "page-1"),
    ):
        assert talk.chat.find(another, channel=channel, since_ms=since) is None
    assert talk.chat.find(KEY, channel=channel, since_ms=NOW_MS + 60_000) is None


def test_among_many_it_is_found(talk: Talk) -> None:
    posted = talk.post()
    for number in range(7):
        talk.post(MessageKey(AlarmSubject("x"), NOW_MS, f"page-{number}"))
    assert talk.chat.find(KEY, channel=posted.channel, since_ms=NOW_MS - 1_000) == posted


def test_what_is_in_a_thread_is_found_there(talk: Talk) -> None:
    main = talk.post()
    news = MessageKey(KEY.subject, KEY.opened_at_ms, "news-1")
    reply = talk.post(news, thread=main.ts)
    where = {"channel": main.channel, "since_ms": NOW_MS - 1_000}
    assert talk.chat.find(news, **where, thread=main.ts) == reply  # type: ignore[arg-type]
    assert talk.chat.find(news, **where) is None  # type: ignore[arg-type]
