"""Reasons with one cause have one name."""

import pytest

from switchyard.domain.causes import cause_of, code_of


@pytest.mark.parametrize(
    ("reason", "cause"),
    [
        ("name: 'order-17' is not defined", "name: … is not defined"),
        ("job-0b8f6c1e-5a34-4f5e-9d50-1f2f3f4f5f6f__step-1 does not exist", "… does not exist"),
        ("line 3 column 14", "line … column …"),
        ("11111111-aaaa-4000-8000-000000000001 is unknown", "… is unknown"),
        ("body: not JSON", "body: not JSON"),
        ("", ""),
    ],
)
def test_names_and_numbers_are_left_out(reason: str, cause: str) -> None:
    assert cause_of(reason) == cause


def test_a_code_stands_for_a_queue_and_a_cause() -> None:
    first = code_of("switchyard-dev-task-queue", "body: not JSON")
    assert first == code_of("switchyard-dev-task-queue", "body: not JSON")
    assert (
        len({first, code_of("switchyard-prod-task-queue", "body: not JSON"), code_of("a", "b")})
        == 3
    )
