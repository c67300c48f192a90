"""The words that people see for what the table knows."""

import pytest

from switchyard.domain.states import JobState, job_status


@pytest.mark.parametrize(
    ("state", "failure_detected", "status"),
    [
        (JobState.WRITING, False, "processing"),
        (JobState.OPEN, False, "processing"),
        (JobState.OPEN, True, "partial_failure"),
        (JobState.CANCELLING, True, "partial_failure"),
        (JobState.REDRIVING, True, "processing"),  # the failure was the last run's
        (JobState.COMPLETED, False, "completed"),
        (JobState.FAILED, True, "failed"),
        (JobState.CANCELLED, True, "cancelled"),
    ],
)
def test_a_job_is_called(state: JobState, failure_detected: bool, status: str) -> None:
    assert job_status(state, failure_detected=failure_detected) == status
