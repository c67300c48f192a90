"""Suggestions of names, which are made of what anybody may send."""

import difflib

import pytest

from switchyard.domain.text import MAX_COMPARED, did_you_mean

KNOWN = ("number", "string")


def test_a_mistyped_name_is_answered_with_the_nearest() -> None:
    assert did_you_mean("strnig", KNOWN) == "; did you mean 'string'?"
    assert did_you_mean("colour", KNOWN) == ""


def test_a_text_that_is_too_long_for_a_name_is_not_compared(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def compared(*_: object, **__: object) -> list[str]:
        raise AssertionError("it was compared")

    monkeypatch.setattr(difflib, "get_close_matches", compared)

    assert did_you_mean("s" * (MAX_COMPARED + 1), KNOWN) == ""
