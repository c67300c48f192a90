"""Points in time as people write them."""

import pytest

from switchyard.domain.moments import moment_ms
from tests.builders import NOW_MS


@pytest.mark.parametrize(
    ("text", "ms"),
    [
        ("0s", NOW_MS),
        ("30s", NOW_MS - 30_000),
        ("15m", NOW_MS - 900_000),
        ("2h", NOW_MS - 7_200_000),
        ("1d", NOW_MS - 86_400_000),
        ("999999d", 0),
        ("2027-01-15T08:00:00Z", NOW_MS),
        ("2027-01-15T08:00:00.005Z", NOW_MS + 5),
        ("2027-01-15T09:30:00+01:30", NOW_MS),
        ("1960-01-01T00:00:00Z", 0),
        ("9999-01-01T00:00:00Z", 9_999_999_999_999),
    ],
)
def test_a_time_or_a_span_is_a_moment(text: str, ms: int) -> None:
    assert moment_ms(text, now_ms=NOW_MS) == ms


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "neither a time"),
        ("yesterday", "neither a time"),
        ("15", "neither a time"),
        ("-15m", "neither a time"),
        ("15m\n", "neither a time"),
        ("٣m", "neither a time"),
        ("1" * 400 + "d", "neither a time"),
        ("2027-01-15T08:00:00", "zone"),
        ("2027-01-15", "zone"),
    ],
)
def test_anything_else_is_refused_with_a_remedy(text: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        moment_ms(text, now_ms=NOW_MS)
