import errno
import json

import pytest

from switchyard.domain.tasks.failures import FailureCategory, category_of, category_of_status


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
