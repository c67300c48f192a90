"""What is told of an error harms nobody."""

import pytest

from switchyard.domain.error_text import error_text, without_secrets

KEY = "sk-ant-api03-" + "A1b2_-" * 6


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (f"invalid x-api-key {KEY}.", "invalid x-api-key [redacted]."),
        ("AKIAABCDEFGHIJKLMNOP", "[redacted]"),
        (f"ghp_{'a1' * 18} and xoxb-123456789012-abc", "[redacted] and [redacted]"),
        ("Authorization: Bearer abc.def-ghi", "Authorization: Bearer [redacted]"),
        ("eyJhbGciOiJI.eyJzdWIiOiIx.c2lnbmF0dXJl", "[redacted]"),
        ("postgres://me:pass@db:5432/x", "postgres://[redacted]@db:5432/x"),
        ("https://token@github.com/a", "https://[redacted]@github.com/a"),
        ("GET /x?X-Amz-Signature=deadbeef&y=1", "GET /x?X-Amz-Signature=[redacted]&y=1"),
        ('{"aws_secret_access_key": "wJalr/x+y"}', '{"aws_secret_access_key": "[redacted]"}'),
        ("password=hunter2;", "password=[redacted];"),
        ("at /home/maria/app/x.py and /Users/jo/x", "at ~/app/x.py and ~/x"),
        ("/root/.claude", "~/.claude"),
    ],
)
def test_a_secret_is_not_told(text: str, told: str) -> None:
    assert without_secrets(text) == told


@pytest.mark.parametrize(
    "text",
    [
        "the output has 12,345 tokens: 10 are allowed",
        "timed out after 500 ms",
        "$.colour: 7 is not of type 'string'",
        "https://api.anthropic.com/v1/messages answered 529",
        "write to support@example.com",
        "/rooted/homepage/home and /homeless/x",
    ],
)
def test_what_is_no_secret_stays(text: str) -> None:
    assert without_secrets(text) == text


def test_an_error_is_cut_and_loses_its_control_characters() -> None:
    assert error_text("\x1b[31m" + "x" * 50, max_characters=10) == "[31mxxxxxx"


def test_a_secret_at_the_cut_is_not_told_in_part() -> None:
    assert "sk-ant" not in error_text("x" * 5 + " " + KEY, max_characters=20)
