import errno
import json

import pytest

from switchyard.domain.tasks.failures import (
    FailureCategory,
    GiveUp,
    Retry,
    category_of,
    category_of_status,
    decide_retry,
)

PERMANENT = {
    FailureCategory.AUTH,
    FailureCategory.VALIDATION,
    FailureCategory.PARSE,
    FailureCategory.NOT_FOUND,
    FailureCategory.PROGRAMMING,
}


@pytest.mark.parametrize("category", FailureCategory)
def test_only_what_may_pass_is_tried_again(category: FailureCategory) -> None:
    decision = decide_retry(category, attempt=1, max_attempts=3)

    assert isinstance(decision, GiveUp if category in PERMANENT else Retry)


def test_the_last_attempt_is_not_followed_by_another() -> None:
    decision = decide_retry(FailureCategory.NETWORK, attempt=3, max_attempts=3)

    assert decision == GiveUp("failed on attempt 3 of 3")


def test_delays_double_up_to_a_limit() -> None:
    delays = [_longest_delay(FailureCategory.NETWORK, attempt) for attempt in range(1, 20)]

    assert delays[:3] == [2_000, 4_000, 8_000]
    assert delays[-1] == 300_000


def test_a_rate_limit_is_given_more_time() -> None:
    assert _longest_delay(FailureCategory.RATE_LIMIT, 1) == 20_000


@pytest.mark.parametrize(
    ("status", "category"),
    [
        (400, FailureCategory.VALIDATION),
        (401, FailureCategory.AUTH),
        (403, FailureCategory.AUTH),
        (404, FailureCategory.NOT_FOUND),
        (408, FailureCategory.TIMEOUT),
        (413, FailureCategory.VALIDATION),
        (429, FailureCategory.RATE_LIMIT),
        (500, FailureCategory.SERVER_ERROR),
        (529, FailureCategory.SERVER_ERROR),
    ],
)
def test_a_status_has_a_category(status: int, category: FailureCategory) -> None:
    assert category_of_status(status) is category


@pytest.mark.parametrize(
    ("error", "category"),
    [
        (json.JSONDecodeError("no", "", 0), FailureCategory.PARSE),
        (UnicodeDecodeError("utf-8", b"", 0, 1, "no"), FailureCategory.PARSE),
        (FileNotFoundError(), FailureCategory.NOT_FOUND),
        (ModuleNotFoundError(), FailureCategory.NOT_FOUND),
        (TimeoutError(), FailureCategory.TIMEOUT),
        (ConnectionResetError(), FailureCategory.NETWORK),
        (ValueError(), FailureCategory.VALIDATION),
        (TypeError(), FailureCategory.PROGRAMMING),
        (AttributeError(), FailureCategory.PROGRAMMING),
        (RuntimeError("error 500"), FailureCategory.PROGRAMMING),
        (NameError(), FailureCategory.PROGRAMMING),
        (MemoryError(), FailureCategory.CHILD_DIED),
        (OSError(errno.EFBIG, "too large"), FailureCategory.VALIDATION),
        (OSError(errno.ENETUNREACH, "unreachable"), FailureCategory.NETWORK),
        (OSError(errno.ENOSPC, "full"), FailureCategory.SERVER_ERROR),
        (PermissionError(errno.EACCES, "no"), FailureCategory.SERVER_ERROR),
        (OSError(errno.ENOMEM, "no memory"), FailureCategory.CHILD_DIED),
        (OSError("without a number"), FailureCategory.PROGRAMMING),
    ],
)
def test_an_exception_is_classified_by_its_type(error: Exception, category: str) -> None:
    assert category_of(error) == category


def _longest_delay(category: FailureCategory, attempt: int) -> int:
    decision = decide_retry(category, attempt=attempt, max_attempts=100)
    assert isinstance(decision, Retry)
    return decision.longest_delay_ms
