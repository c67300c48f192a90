"""What others wrote is shown, and has no effect: the stage's fixture sees to it that nobody is
called and that Slack takes every message."""

import pytest

from switchyard.domain.alerts.incidents import Section
from tests.slack.conftest import Stage
from tests.slack.incidents import an_incident, over

HOSTILE = {
    "calls": "<!channel> <!here> <@U123> <#C123>",
    "links": "<https://evil.example|click me> https://evil.example",
    "ansi": "\x1b[31mred\x1b[0m \x1b]8;;https://evil.example\x07link\x1b]8;;\x07 \x9b2J",
    "formats": "a `b` ```c``` *d* ~e~ _f_",
    "escapes": "&lt;!channel&gt; &amp;",
    "controls": "line\nbreak\r\n\x00\x07\u202e\u2066",
    "long and escaped": "<" * 4_000,
    "long and in code": "`" * 4_000,
    "long": "\N{GRINNING FACE}" * 4_000,
    "empty": "",
}
PLAIN = (Section(title="plain"),) * 45


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_nothing_that_others_wrote_has_an_effect(stage: Stage, text: str) -> None:
    section = Section(title=text, facts=((text, text),) * 12, text=text, commands=(text,) * 3)
    stage.run(an_incident(title=text, news=text, sections=(section, *PLAIN)))
    stage.run(an_incident("again", title=text, news=text, sections=(section,)))
    stage.run(over(title=text, news=text))
    assert len(stage.slack.messages) == 4
    for message in stage.slack.messages:
        everything = f"{message.text}{message.blocks}"
        assert not any(mark in everything for mark in ("\x1b", "\\x1b", "\\x9b", "\\x00", "\u202e"))


def test_colours_are_gone_and_the_words_stay(stage: Stage) -> None:
    section = Section(title="task", text="\x1b[31mno such host\x1b[0m: <!channel> `x`")
    stage.run(an_incident(sections=(section,)))
    assert "```no such host: <!channel> \u02cbx\u02cb```" in stage.slack.messages[0].seen


def test_a_code_span_is_never_left_open(stage: Stage) -> None:
    section = Section(title="t", facts=tuple(("name", "v" * 400) for _ in range(30)))
    stage.run(an_incident(sections=(section,)))
    text = stage.slack.messages[0].blocks[2]["text"]["text"]
    assert text.count("`") % 2 == 0
    assert text.endswith("…")
