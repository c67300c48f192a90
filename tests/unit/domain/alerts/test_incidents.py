"""What each kind of incident shows, and when it is news."""

from dataclasses import replace

import pytest

from switchyard.domain.alerts.incidents import Incident, Severity
from switchyard.domain.alerts.job_incidents import job_incident, never_failed
from switchyard.domain.alerts.stage_incidents import (
    SHOWN,
    Alarm,
    DeadLetterFacts,
    DeadLettersSeen,
    alarm_incident,
    dead_letters_incident,
    health_incident,
)
from switchyard.domain.alerts.subjects import DeadLettersSubject
from switchyard.domain.health.health import Health, HealthReport, worst_first
from switchyard.domain.health.presence import PresentWorker
from switchyard.domain.health.unserved import UnservedCode
from switchyard.domain.jobs.job import Job
from switchyard.domain.states import JobState, TaskState
from switchyard.domain.tasks.task import Outcome, Task, Usage
from tests.builders import JOB, NOW_MS, a_task
from tests.slack.incidents import a_check

A_JOB = Job(ref=JOB, name="brand", state=JobState.OPEN, total_tasks=7, created_at_ms=NOW_MS)
FAILING = replace(A_JOB, failure_detected_at_ms=NOW_MS, failed_task_id="t-3")
FAILED = replace(FAILING, state=JobState.FAILED)


def mixed(**counts: int) -> HealthReport:
    checks = [a_check(count, health=Health(name)).tasks for name, count in counts.items()]
    return HealthReport(checked_at_ms=0, tasks=worst_first([t for tasks in checks for t in tasks]))


@pytest.mark.parametrize(
    ("report", "title", "severity"),
    [
        (mixed(critical=2, overtime=1), "2 stuck tasks, 1 overtime task", Severity.CRITICAL),
        (mixed(critical=1), "1 stuck task, 0 overtime tasks", Severity.CRITICAL),
        (mixed(overtime=3), "0 stuck tasks, 3 overtime tasks", Severity.CRITICAL),
        (mixed(warning=2, healthy=9), "2 tasks with delayed heartbeats", Severity.WARNING),
        (mixed(not_progressing=1), "1 task alive but not progressing", Severity.WARNING),
        (
            mixed(critical=1, not_progressing=2, warning=1),
            "1 stuck task, 0 overtime tasks, 2 tasks alive but not progressing, "
            "1 task with delayed heartbeats",
            Severity.CRITICAL,
        ),
    ],
)
def test_a_check_is_summed_up_in_its_title(
    report: HealthReport, title: str, severity: Severity
) -> None:
    incident = health_incident(report)
    assert (incident.title, incident.severity, incident.open) == (title, severity, True)


def test_where_all_are_well_there_is_no_incident() -> None:
    assert not health_incident(mixed(healthy=3)).open
    assert not health_incident(mixed()).open


SICK = PresentWorker(
    worker_id="worker-7",
    started_at_ms=0,
    seen_at_ms=NOW_MS,
    slots=3,
    busy=1,
    version="1",
    sick="/work: No space left on device",
)


def test_a_sick_worker_is_named_with_what_its_machine_lacks() -> None:
    incident = health_incident(replace(mixed(healthy=3), sick_workers=(SICK,)))
    assert (incident.title, incident.severity) == ("1 sick worker", Severity.WARNING)
    assert incident.open
    [section] = incident.sections
    assert section.title == "worker-7"
    assert ("its machine", "/work: No space left on device") in section.facts
    assert incident.fingerprint != health_incident(mixed(healthy=3)).fingerprint


UNSERVED = UnservedCode(
    code="my_functions@ab12", tasks=3, first=JOB.task("a"), waiting_ms=12 * 60_000
)


def test_code_that_no_worker_serves_is_an_incident_until_one_does() -> None:
    incident = health_incident(replace(mixed(healthy=3), unserved=(UNSERVED,)))

    assert incident.title == "3 tasks wait for code that no worker serves"
    assert (incident.open, incident.severity) == (True, Severity.WARNING)
    [section] = incident.sections
    assert section.title == "my_functions@ab12"
    assert ("waiting", "3 for up to 12 min") in section.facts
    later = replace(UNSERVED, tasks=4, waiting_ms=99 * 60_000)
    again = health_incident(replace(mixed(healthy=3), unserved=(later,)))
    assert again.fingerprint == incident.fingerprint
    assert incident.fingerprint != health_incident(mixed(healthy=3)).fingerprint


def test_time_that_passes_is_no_news_but_another_task_or_class_is() -> None:
    def said(count: int, health: Health = Health.CRITICAL, elapsed: int = 20) -> str:
        return health_incident(a_check(count, health=health, elapsed=elapsed)).fingerprint

    assert said(2, elapsed=20) == said(2, elapsed=99)
    assert len({said(2), said(3), said(2, Health.WARNING), said(0)}) == 4


def test_of_thousands_the_worst_are_shown_and_the_others_counted() -> None:
    incident = health_incident(a_check(SHOWN + 1_234))
    assert len(incident.sections) == SHOWN + 1
    assert incident.sections[-1].title == "and 1,234 more tasks"


def incident_of(job: Job, *tasks: Task) -> Incident:
    return job_incident(job, tasks, stage="dev")


def failed(number: int, **outcome: object) -> Task:
    facts = {"state": TaskState.FAILED, "error": f"error {number}", "error_category": "network"}
    return a_task(
        f"t-{number}",
        state=TaskState.FAILED,
        attempt=3,
        settled_at_ms=NOW_MS + number,
        outcome=Outcome(**facts | outcome),  # type: ignore[arg-type]
    )


def test_a_failed_job_shows_what_failed_why_what_it_cost_and_what_to_type() -> None:
    paid = a_task("t-0", state=TaskState.COMPLETED)
    paid = replace(paid, outcome=Outcome(state=TaskState.COMPLETED, usage=Usage(cost_usd=1.25)))
    incident = incident_of(FAILED, paid, failed(3, usage=Usage(cost_usd=0.5)))
    about, failure, to_do = incident.sections
    assert (incident.open, incident.severity) == (True, Severity.CRITICAL)
    assert ("cost so far", "$1.7500") in about.facts
    assert ("tasks", "1 failed, 2 of 2 settled") in about.facts
    assert (failure.title, failure.text) == ("t-3", "error 3")
    assert failure.facts == (
        ("definition", "scrape"),
        ("attempts", "3 of 3"),
        ("category", "network"),
    )
    assert to_do.commands[-1] == f"switchyard redrive {JOB.job_id} --stage dev"
    assert [button.action for button in incident.buttons] == ["redrive"]


def test_five_failures_are_shown_the_first_to_be_noted_first_and_the_rest_counted() -> None:
    sections = incident_of(FAILED, *(failed(number) for number in range(7))).sections
    titles = [section.title for section in sections]
    assert titles[1:] == [
        "t-3",
        "t-0",
        "t-1",
        "t-2",
        "t-4",
        "and 2 more failed tasks",
        "What to do",
    ]


def test_an_incident_lasts_from_the_first_failure_until_the_job_is_over() -> None:
    story = [
        FAILING,
        FAILED,
        replace(FAILED, state=JobState.REDRIVING),
        replace(A_JOB, run=2, state=JobState.OPEN),
        replace(FAILED, run=2),
        replace(A_JOB, run=3, state=JobState.COMPLETED),
    ]
    incidents = [incident_of(job) for job in story]
    assert [incident.open for incident in incidents] == [True, True, True, True, True, False]
    assert [incident.title.partition(":")[0] for incident in incidents] == [
        "A task of a job failed, the others go on",
        "A job failed",
        "A failed job is being redriven",
        "A failed job is being redriven",
        "A job failed",
        "A job that had failed completed",
    ]
    assert len({incident.fingerprint for incident in incidents}) == 5
    assert [[b.action for b in incident.buttons] for incident in incidents] == [
        ["cancel"],
        ["redrive"],
        ["cancel"],
        ["cancel"],
        ["redrive"],
        [],
    ]


@pytest.mark.parametrize("state", [JobState.OPEN, JobState.COMPLETED, JobState.CANCELLED])
def test_of_a_job_that_never_failed_nobody_was_incident_of(state: JobState) -> None:
    job = replace(A_JOB, state=state)
    assert never_failed(job)
    assert not incident_of(job).open
    assert not never_failed(replace(job, run=2))
    assert not never_failed(replace(job, failure_detected_at_ms=NOW_MS))


def dead_letters(count: int, *reasons: str, place: str = "tasks", more: bool = False) -> Incident:
    newest = tuple(
        DeadLetterFacts(
            message_id=f"m-{number}",
            queue="switchyard-dev-task-queue",
            reason=reason,
            event_type="Task Completed",
            entity="job-1__t",
            parked_at="2027-01-15T08:00:00+00:00",
        )
        for number, reason in enumerate(reasons)
    )
    subject = DeadLettersSubject(place)
    seen = DeadLettersSeen(subject=subject, count=count, more=more, newest=newest)
    return dead_letters_incident(seen, stage="dev")


def test_dead_letters_are_shown_by_cause_with_the_newest_three_and_what_to_type() -> None:
    incident = dead_letters(4, "no task 'a'", "no task 'b'", "not JSON", "not JSON at 7")
    assert incident.title == "4 messages parked from tasks"
    causes, *newest, to_do = incident.sections
    assert causes.title == "By cause"
    assert causes.facts[0] == ("2", "no task …")
    assert [("message", f"m-{number}") in s.facts for number, s in enumerate(newest)] == [True] * 3
    assert "switchyard dlq show m-0 --stage dev" in to_do.commands


def test_what_was_not_read_is_said() -> None:
    incident = dead_letters(2_000, "not JSON", place="switchyard-dev-event-queue-dlq", more=True)
    assert incident.title == "more than 2,000 messages parked from switchyard-dev-event-queue-dlq"
    assert incident.sections[0].title == "By cause (of the newest 1)"


def test_many_dead_letters_are_news_in_steps_and_another_cause_always_is() -> None:
    def said(count: int, *reasons: str) -> str:
        return dead_letters(count, *reasons).fingerprint

    steps = {count: said(count, "x") for count in (1, 2, 9, 10, 19, 20, 49, 50, 99, 100, 150)}
    assert steps[10] == steps[19]
    assert steps[20] == steps[49]
    assert steps[50] == steps[99]
    assert steps[100] == steps[150]
    assert len(set(steps.values())) == 7
    assert said(15, "x") != said(15, "y")


def test_without_dead_letters_there_is_no_incident() -> None:
    assert not dead_letters(0).open


def test_an_alarm_shows_its_description() -> None:
    alarm = Alarm(
        name="switchyard-dev-event-not-saved-unread",
        raised=True,
        meaning="Dead letters are not read.",
        reason="Threshold Crossed",
    )
    incident = alarm_incident(alarm, stage="dev")
    assert incident.title == "Alarm: event not saved unread"
    assert incident.sections[0].title == "Dead letters are not read."
    assert not alarm_incident(replace(alarm, raised=False), stage="dev").open
