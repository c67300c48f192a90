"""Which keys there can be, and which bodies are the same."""

import pytest

from switchyard.domain.jobs.submission_keys import body_hash, problem_with_key


@pytest.mark.parametrize("key", ["a", "7d9f2b64-0c1e", 'order/7?of="x"&y=~', "k" * 255])
def test_a_key_is_printable_ascii(key: str) -> None:
    assert problem_with_key(key) is None


@pytest.mark.parametrize("key", ["", "k" * 256, "a b", "a#b", "a\n", "\ta", "schlüssel", "a\x7f"])
def test_a_text_that_is_no_key_is_refused_with_the_rule(key: str) -> None:
    problem = problem_with_key(key)
    assert problem is not None
    assert "1 to 255 printable ASCII" in problem


def test_the_order_in_which_an_object_says_it_does_not_matter() -> None:
    assert body_hash({"a": 1, "b": {"c": [1, 2], "d": None}}) == body_hash(
        {"b": {"d": None, "c": [1, 2]}, "a": 1}
    )


@pytest.mark.parametrize("other", [{"a": [2, 1]}, {"a": [1, 2], "b": None}, {"a": ["1", 2]}, {}])
def test_what_is_said_does(other: object) -> None:
    assert body_hash({"a": [1, 2]}) != body_hash(other)
