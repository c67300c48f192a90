"""The text of a subject is what is stored, and is read as the same subject."""

import pytest

from switchyard.domain.alerts.subjects import (
    QUARANTINE,
    AlarmSubject,
    DeadLettersSubject,
    HealthSubject,
    JobSubject,
    Subject,
    TaskSubject,
    parse_subject,
)
from switchyard.domain.ids import bare_task
from tests.builders import JOB, JOB_ID, TENANT

WRITTEN: dict[str, Subject] = {
    "health": HealthSubject(),
    f"job/{TENANT}/{JOB_ID}": JobSubject(JOB),
    f"task/{TENANT}/order-7": TaskSubject(bare_task(TENANT, "order-7")),
    "letters/quarantine": DeadLettersSubject(QUARANTINE),
    f"letters/event-queue-dlq/{TENANT}/{JOB_ID}": DeadLettersSubject("event-queue-dlq", JOB),
    "alarm/switchyard-dev-x": AlarmSubject("switchyard-dev-x"),
}


@pytest.mark.parametrize(("text", "subject"), WRITTEN.items(), ids=WRITTEN)
def test_a_subject_is_written_as_it_is_read(text: str, subject: Subject) -> None:
    assert str(subject) == text
    assert parse_subject(text) == subject


def test_only_jobs_and_their_dead_letters_have_a_job() -> None:
    assert [subject.job for subject in WRITTEN.values()] == [None, JOB, None, None, JOB, None]


@pytest.mark.parametrize("text", ["", "nobody", "healthy", "task/x", f"task/{TENANT}/job-1__a"])
def test_any_other_text_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is not"):
        parse_subject(text)
