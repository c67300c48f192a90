"""The text of an error has no secrets and no control characters."""

import pytest

from switchyard.domain.error_text import REDACTED, SecretLines, error_text, without_secrets

KEY = "sk-ant-api03-" + "A1b2_-" * 6

PEM = "-----BEGIN RSA PRIVATE KEY-----\nMIIEow+/=\nIBAAKC\n-----END RSA PRIVATE KEY-----"


@pytest.mark.parametrize(
    ("text", "emitted"),
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
        (f"our key swy.acme-1.{'aB3_-' * 8}!", "our key [redacted]!"),
        (
            "posting to https://hooks.slack.com/services/T0123/B0456/abcDEF123 failed",
            "posting to https://hooks.slack.com/services/[redacted] failed",
        ),
        ("xapp-1-A012-345-abcdef012345", "[redacted]"),
        (f"before\n{PEM}\nafter", "before\n[redacted]\nafter"),
        (PEM.replace("\n", "\\n"), "[redacted]"),
        (PEM.partition("-----END")[0], "[redacted]"),
        (PEM.replace("RSA PRIVATE KEY", "PGP PRIVATE KEY BLOCK"), "[redacted]"),
        (f"{PEM} {PEM}", "[redacted] [redacted]"),
    ],
)
def test_a_secret_is_removed(text: str, emitted: str) -> None:
    assert without_secrets(text) == emitted


@pytest.mark.parametrize(
    "text",
    [
        "the output has 12,345 tokens: 10 are allowed",
        "timed out after 500 ms",
        "$.colour: 7 is not of type 'string'",
        "https://api.anthropic.com/v1/messages answered 529",
        "write to support@example.com",
        "/rooted/homepage/home and /homeless/x",
        "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
        "swy is a prefix, and so is swy.acme",
        "https://slack.com/help",
    ],
)
def test_what_is_no_secret_stays(text: str) -> None:
    assert without_secrets(text) == text


def test_an_error_is_cut_and_loses_its_control_characters() -> None:
    assert error_text("\x1b[31m" + "x" * 50, max_characters=10) == "[31mxxxxxx"


def test_a_secret_at_the_cut_is_removed_whole() -> None:
    assert "sk-ant" not in error_text("x" * 5 + " " + KEY, max_characters=20)


def test_a_private_key_that_is_printed_line_by_line_is_removed_whole() -> None:
    lines = SecretLines()
    printed = [*f"a\n{PEM} b".split("\n"), "c"]
    assert [lines.line(line) for line in printed] == [
        "a",
        REDACTED,
        REDACTED,
        REDACTED,
        f"{REDACTED} b",
        "c",
    ]


def test_lines_after_a_private_key_on_one_line_stay() -> None:
    lines = SecretLines()
    assert lines.line(PEM.replace("\n", " ")) == REDACTED
    assert lines.line("next") == "next"


def test_a_second_private_key_that_begins_where_the_first_ends_is_removed() -> None:
    lines = SecretLines()
    begin, *body, end = PEM.split("\n")
    for line in (begin, *body, f"{end}{begin}", *body, end):
        assert lines.line(line).replace(REDACTED, "") == ""
    assert lines.line("next") == "next"


@pytest.mark.parametrize("piece", ["-----BEGIN PRIVATE KEY-----", "-----BEGIN ", "swy.", "-"])
def test_hostile_text_takes_linear_time(piece: str) -> None:
    """A quadratic pattern would need minutes for a megabyte."""
    text = piece * (1_000_000 // len(piece))
    assert len(without_secrets(text)) <= len(text)
